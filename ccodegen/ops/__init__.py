"""One OpDef per HLO op. Importing this package fills the registry in `hlo.opdef`."""
