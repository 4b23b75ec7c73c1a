"""HLO text: `parse` reads it, `to_text` writes it in one canonical form."""

from ccodegen.hlo.text.parser import parse
from ccodegen.hlo.text.printer import to_text

__all__ = ["parse", "to_text"]
