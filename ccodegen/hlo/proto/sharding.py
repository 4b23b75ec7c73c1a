"""Shardings and groups of devices, in HLO text's spelling."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.proto.enums import spelling
from ccodegen.hlo.proto.spelling import braced, commas, metadata
from ccodegen.support.errors import InputError

_TUPLE, _OTHER = 2, 3


def device_groups(proto: Any) -> str | None:
    """`replica_groups` in whichever of its forms the instruction has."""
    if proto.HasField("iota_collective_device_list"):
        devices = proto.iota_collective_device_list
        groups = f"[{devices.num_replica_groups},{devices.num_devices_per_group}]"
        return groups + "<=" + _iota(devices.iota_reshape_dims, devices.iota_transpose_perm)
    if proto.HasField("mesh_axes_replica_group_list"):
        listed = proto.mesh_axes_replica_group_list
        return f"{_mesh(listed.mesh)} {_axes(listed.axes, listed.mesh)}"
    groups = proto.collective_device_list.replica_groups or proto.replica_groups
    return braced(braced(group.replica_ids) for group in groups)


def _iota(reshape_dims: Any, transpose_perm: Any) -> str:
    """`[2,4]T(1,0)`: device numbers counted up in a shape, then transposed."""
    perm = list(transpose_perm)
    transpose = f"T({commas(perm)})" if perm != sorted(perm) else ""
    return f"[{commas(reshape_dims)}]{transpose}"


def sharding(proto: Any) -> str:
    """`{devices=[2,1]<=[2]}`, `{replicated}`, `{{…}, {…}}` for a tuple, …

    Raises InputError where the proto is inconsistent.
    """
    if proto.HasField("named_sharding"):
        return f"{{{_named_sharding(proto.named_sharding)}}}"
    if proto.type == _TUPLE:
        return f"{{{', '.join(map(sharding, proto.tuple_shardings))}}}"
    text = _tiling(proto) if proto.type == _OTHER else spelling("sharding", proto.type)
    if text == "maximal":
        text += f" device={commas(proto.tile_assignment_devices)}"
    if proto.is_shard_group:
        text += f" {spelling('shard group', proto.shard_group_type)} {proto.shard_group_id}"
    if len(proto.metadata) == 1:
        text += f" metadata={metadata(proto.metadata[0])}"
    elif proto.metadata:
        text += f" metadata={_metadata_list(proto)}"
    return f"{{{text}}}"


def _metadata_list(proto: Any) -> str:
    return f"{{{', '.join(map(metadata, proto.metadata))}}}"


def _tiling(proto: Any) -> str:
    text = f"devices=[{commas(proto.tile_assignment_dimensions)}]"
    if proto.iota_reshape_dims:
        text += "<=" + _iota(proto.iota_reshape_dims, proto.iota_transpose_perm)
    else:
        text += commas(proto.tile_assignment_devices)
    if proto.replicate_on_last_tile_dim:
        text += " last_tile_dim_replicate"
    if proto.last_tile_dims:
        kinds = ", ".join(spelling("sharding", kind) for kind in proto.last_tile_dims)
        text += f" last_tile_dims={{{kinds}}}"
    return text


def _named_sharding(proto: Any) -> str:
    dims = ", ".join(_axes(d.axes, proto.mesh, d.is_closed) for d in proto.dim_shardings)
    parts = [_mesh(proto.mesh), f"[{dims}]"]
    for name in ("replicated", "unreduced", "manual"):
        references = getattr(proto, f"{name}_axes")
        if references:
            parts.append(f"{name}={_axes(references, proto.mesh)}")
    if proto.metadata:
        parts.append(f"metadata={_metadata_list(proto)}")
    return ", ".join(parts)


def _mesh(proto: Any) -> str:
    """`mesh['a'=2,'b'=4]`, with its devices where they are not counted up."""
    axes = commas(f"'{axis.name}'={axis.size}" for axis in proto.axes)
    text = f"mesh[{axes}]"
    if proto.HasField("iota_transform"):
        iota = proto.iota_transform
        return f"{text}, device_ids=({_iota(iota.reshape_dims, iota.transpose_perm)})"
    return f"{text}, device_ids=({commas(proto.device_ids)})" if proto.device_ids else text


def _axes(references: Any, mesh: Any, is_closed: bool = True) -> str:
    """`{'a', 'b':(1)2, ?}`: axes of a mesh or parts of them; `?` where more may be added."""
    texts = [_axis(reference, mesh) for reference in references] + ["?"] * (not is_closed)
    return f"{{{', '.join(texts)}}}"


def _axis(reference: Any, mesh: Any) -> str:
    index = reference.mesh_axis_index
    if not 0 <= index < len(mesh.axes):
        raise InputError(f"a sharding uses axis {index} of a mesh with {len(mesh.axes)} axes")
    name = f"'{mesh.axes[index].name}'"
    if not reference.HasField("sub_axis_info"):
        return name
    return f"{name}:({reference.sub_axis_info.pre_size}){reference.sub_axis_info.size}"
