"""The messages of XLA's hlo.proto and xla_data.proto that we read, built at run time.

Field numbers are those of jaxlib 0.10.2. Fields and messages that are not listed are skipped when
a proto is read; enums are read as int32 and named in `enums`. Types that end in `*` are repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ccodegen.support.errors import InputError

# Packed lists of fixed width (`preds` has a byte an element) are declared as bytes, so that NumPy
# reads them without a Python object for each element. A few single fields are declared repeated:
# then 0 differs from "not set".
MESSAGES = {
    "HloProto": "HloModuleProto: hlo_module=1",
    "HloModuleProto": """
        string: name=1; int64: entry_computation_id=6 id=5; HloComputationProto*: computations=3;
        ProgramShapeProto: host_program_shape=4; HloScheduleProto: schedule=7;
        HloInputOutputAliasProto: input_output_alias=8; HloBufferDonorProto: buffer_donor=18;
        StackFrameIndexProto: stack_frame_index=17; FrontendAttributes: frontend_attributes=19;
        bytes*: payloads=22
    """,
    "HloComputationProto": """
        string: name=1 execution_thread=8; HloInstructionProto*: instructions=2;
        int64: id=5 root_id=6
    """,
    "HloInstructionProto": """
        string: name=1 opcode=2 fusion_kind=11 custom_call_target=28 comparison_direction=63
            comparison_type=72 async_execution_thread=79;
        ShapeProto: shape=3 outfeed_shape=29; OpMetadata: metadata=7; LiteralProto: literal=8;
        int64: parameter_number=9 tuple_index=13 feature_group_count=50 batch_group_count=58
            feature_index=25 channel_id=26 id=35 delta=66 k=81 num_carries=95;
        int64*: dimensions=14 dynamic_slice_sizes=20 fft_length=32 gather_slice_sizes=34
            operand_ids=36 control_predecessor_ids=37 called_computation_ids=38;
        Window: window=15; ConvolutionDimensionNumbers: convolution_dimension_numbers=16;
        SliceDimensions*: slice_dimensions=17;
        int32: exponent_bits=18 mantissa_bits=19 distribution=23 fft_type=31
            custom_call_schedule=76 rng_algorithm=70
            padding_type=75 custom_call_api_version=77 is_associative=96 conv_kind=97;
        int32*: cross_program_prefetch_index=80; PaddingConfig: padding_config=21;
        Payload: backend_config_payload=99;
        bytes: outfeed_config=22 infeed_config=27 backend_config=43; float: epsilon=24;
        DotDimensionNumbers: dot_dimension_numbers=30;
        RaggedDotDimensionNumbers: ragged_dot_dimension_numbers=90;
        GatherDimensionNumbers: gather_dimension_numbers=33;
        OpSharding: sharding=40 domain_entry_sharding=54 domain_exit_sharding=55;
        ReplicaGroup*: replica_groups=49;
        bool: use_global_device_ids=71 is_host_transfer=47 is_stable=60 constrain_layout=56
            custom_call_has_side_effect=65 indices_are_sorted=67 unique_indices=69 largest=85
            is_composite=89 is_reverse=94;
        ScatterDimensionNumbers: scatter_dimension_numbers=48;
        PrecisionConfig: precision_config=51; SourceTarget*: source_target_pairs=52;
        ShapeProto*: operand_shapes_with_layout=57;
        TriangularSolveOptions: triangular_solve_options=59;
        CholeskyOptions: cholesky_options=62; ParameterReplication: parameter_replication=61;
        OutputOperandAliasing*: output_operand_aliasing=74;
        FrontendAttributes: frontend_attributes=68; StatisticsViz: statistics_viz=82;
        CollectiveDeviceListProto: collective_device_list=87;
        IotaReplicaGroupListProto: iota_collective_device_list=92;
        MeshAxesReplicaGroupListProto: mesh_axes_replica_group_list=93;
        OriginalValueProto: original_value=88; ResultAccuracy: result_accuracy=91
    """,
    "ShapeProto": """
        int32: element_type=2; int64*: dimensions=3; bool*: is_dynamic_dimension=6;
        ShapeProto*: tuple_shapes=4; LayoutProto: layout=5
    """,
    "LayoutProto": """
        int64*: minor_to_major=1; int32*: dim_level_types=9; bool*: dim_unique=13 dim_ordered=14;
        TileProto*: tiles=6;
        int64: tail_padding_alignment_in_elements=16 element_size_in_bits=7 memory_space=8
            dynamic_shape_metadata_prefix_bytes=15;
        int32: index_primitive_type=11 pointer_primitive_type=12; ShapeProto: physical_shape=10;
        SplitConfigProto*: split_configs=17
    """,
    "TileProto": "int64*: dimensions=1",
    "SplitConfigProto": "int64: dimension=1; int64*: split_indices=2",
    "OpMetadata": """
        string: op_type=1 op_name=2 source_file=3 deduplicated_name=12 scheduling_name=16;
        int32: source_line=4 source_end_line=17 source_column=18 source_end_column=19
            stack_frame_id=15;
        int32*: profile_type=5;
        Payload: metadata_payload=20
    """,
    "Payload": "bytes: value=1; int64*: id=2",
    "LiteralProto": """
        ShapeProto: shape=1; bytes*: preds=2 f32s=8 f64s=9 c64s=12 c128s=18;
        bytes: s1s=30 s2s=26 s4s=21 s8s=15 u1s=31 u2s=27 u4s=22 u8s=3 f16s=11 bf16s=13 u16s=16
            s16s=17 f4e2m1fns=32 f8e3m4s=29 f8e4m3b11fnuzs=23 f8e4m3fns=20 f8e4m3fnuzs=25
            f8e4m3s=28 f8e5m2fnuzs=24 f8e5m2s=19 f8e8m0fnus=33 f6e3m2fns=35 f6e2m3fns=36;
        int32*: s32s=4 dynamic_sizes=34; int64*: s64s=5; uint32*: u32s=6; uint64*: u64s=7;
        LiteralProto*: tuple_literals=10
    """,
    "Window": "WindowDimension*: dimensions=1",
    "WindowDimension": """
        int64: size=1 stride=2 padding_low=3 padding_high=4 window_dilation=5 base_dilation=6;
        bool: window_reversal=7
    """,
    "ConvolutionDimensionNumbers": """
        int64: input_batch_dimension=7 input_feature_dimension=8 kernel_input_feature_dimension=3
            kernel_output_feature_dimension=4 output_batch_dimension=9
            output_feature_dimension=10;
        int64*: input_spatial_dimensions=11 kernel_spatial_dimensions=6
            output_spatial_dimensions=12
    """,
    "SliceDimensions": "int64: start=1 limit=2 stride=3",
    "PaddingConfig": "PaddingConfigDimension*: dimensions=1",
    "PaddingConfigDimension": "int64: edge_padding_low=1 edge_padding_high=2 interior_padding=3",
    "DotDimensionNumbers": """
        int64*: lhs_contracting_dimensions=1 rhs_contracting_dimensions=2 lhs_batch_dimensions=3
            rhs_batch_dimensions=4
    """,
    "RaggedDotDimensionNumbers": """
        DotDimensionNumbers: dot_dimension_numbers=1;
        int64*: lhs_ragged_dimensions=2 rhs_group_dimensions=3
    """,
    "GatherDimensionNumbers": """
        int64*: offset_dims=1 collapsed_slice_dims=2 start_index_map=3 operand_batching_dims=5
            start_indices_batching_dims=6;
        int64: index_vector_dim=4
    """,
    "OpSharding": """
        int32: type=1 shard_group_type=13;
        int64*: tile_assignment_dimensions=3 tile_assignment_devices=4 iota_reshape_dims=9;
        OpSharding*: tuple_shardings=5; bool: replicate_on_last_tile_dim=6 is_shard_group=11;
        int32*: last_tile_dims=8 iota_transpose_perm=10; int64: shard_group_id=12;
        NamedShardingProto: named_sharding=14; OpMetadata*: metadata=7
    """,
    "NamedShardingProto": """
        MeshProto: mesh=2; DimensionSharding*: dim_shardings=3;
        AxisRefProto*: replicated_axes=4 unreduced_axes=5 manual_axes=7; OpMetadata*: metadata=6
    """,
    "MeshProto": "MeshAxis*: axes=1; int64*: device_ids=2; IotaTransform: iota_transform=3",
    "MeshAxis": "string: name=1; int64: size=2",
    "IotaTransform": "int64*: reshape_dims=1 transpose_perm=2",
    "DimensionSharding": "AxisRefProto*: axes=1; bool: is_closed=2",
    "AxisRefProto": "int64: mesh_axis_index=1; SubAxis: sub_axis_info=2",
    "SubAxis": "int64: pre_size=1 size=2",
    "ReplicaGroup": "int64*: replica_ids=1",
    "ScatterDimensionNumbers": """
        int64*: update_window_dims=1 inserted_window_dims=2 scatter_dims_to_operand_dims=3
            input_batching_dims=5 scatter_indices_batching_dims=6;
        int64: index_vector_dim=4
    """,
    "PrecisionConfig": "int32*: operand_precision=1; int32: algorithm=2",
    "SourceTarget": "int64: source=1 target=2",
    "TriangularSolveOptions": "bool: left_side=1 lower=2 unit_diagonal=3; int32: transpose_a=4",
    "CholeskyOptions": "bool: lower=1",
    "ParameterReplication": "bool*: replicated_at_leaf_buffers=1",
    "OutputOperandAliasing": """
        int64*: output_shape_index=1 operand_shape_index=3; int64: operand_index=2
    """,
    "FrontendAttributes": "MapEntry*: map=1",
    "MapEntry": "string: key=1 value=2",
    "StatisticsViz": "int64: stat_index_to_visualize=1; Statistic*: statistics=2",
    "Statistic": "string: stat_name=1; double: stat_val=2",
    "CollectiveDeviceListProto": "ReplicaGroup*: replica_groups=1",
    "IotaReplicaGroupListProto": """
        int64: num_replica_groups=1 num_devices_per_group=2; int64*: iota_reshape_dims=3;
        int32*: iota_transpose_perm=4
    """,
    "MeshAxesReplicaGroupListProto": "MeshProto: mesh=1; AxisRefProto*: axes=2",
    "OriginalValueProto": "OriginalValueElementProto*: elements=1; bool: is_synthetic_call=2",
    "OriginalValueElementProto": "int64*: shape_index=1; OriginalArrayProto: original_array=2",
    "OriginalArrayProto": "string: instruction_name=1; int64*: shape_index=2",
    "ResultAccuracy": "int32: mode=1; Tolerance: tolerance=2",
    "Tolerance": "double: atol=1 rtol=2; int64: ulps=3",
    "ProgramShapeProto": """
        ShapeProto*: parameters=1; ShapeProto: result=2; string*: parameter_names=3
    """,
    "HloScheduleProto": "SequencesEntry*: sequences=1",
    "SequencesEntry": "int64: key=1; InstructionSequence: value=2",
    "InstructionSequence": "int64*: instruction_ids=1",
    "HloInputOutputAliasProto": "AliasEntryProto*: entries=1",
    "AliasEntryProto": """
        int64*: output_shape_index=1 parameter_shape_index=3; int64: parameter_number=2;
        int32: kind=4
    """,
    "HloBufferDonorProto": "BufferDonorEntryProto*: entries=1",
    "BufferDonorEntryProto": "int64: parameter_number=1; int64*: parameter_shape_index=2",
    "StackFrameIndexProto": """
        string*: file_names=1 function_names=2; FileLocation*: file_locations=3;
        StackFrame*: stack_frames=4
    """,
    "FileLocation": """
        int32: file_name_id=1 function_name_id=2 line=3 end_line=5 column=4 end_column=6
    """,
    "StackFrame": "int32: file_location_id=1 parent_frame_id=2",
}

_SCALARS = ("double", "float", "int64", "uint64", "int32", "bool", "string", "bytes", "uint32")


@cache
def message_classes() -> dict[str, Any]:
    """The protobuf class of each message. Raises InputError where protobuf is not installed."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        hint = 'install it: pip install "ccodegen[proto]"'
        raise InputError("reading an HLO proto needs the protobuf package", hint=hint) from None
    file = descriptor_pb2.FileDescriptorProto(
        name="ccodegen/hlo.proto", package="ccodegen", syntax="proto3"
    )
    types = descriptor_pb2.FieldDescriptorProto
    scalars = {name: getattr(types, f"TYPE_{name.upper()}") for name in _SCALARS}
    for name in MESSAGES:
        message = file.message_type.add(name=name)
        for type_name, field_name, number in _fields(name):
            scalar = scalars.get(type_name.rstrip("*"))
            message.field.add(
                name=field_name,
                number=number,
                label=types.LABEL_REPEATED if type_name.endswith("*") else types.LABEL_OPTIONAL,
                type=scalar or types.TYPE_MESSAGE,
                type_name=None if scalar else f".ccodegen.{type_name.rstrip('*')}",
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(find(f"ccodegen.{name}")) for name in MESSAGES}


def _fields(message: str) -> Iterator[tuple[str, str, int]]:
    """(type, name, number) of each field of a message in the table."""
    for group in MESSAGES[message].split(";"):
        type_name, names = group.split(":")
        for entry in names.split():
            name, number = entry.split("=")
            yield type_name.strip(), name, int(number)
