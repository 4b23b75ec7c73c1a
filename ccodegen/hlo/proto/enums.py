"""The numbers of enum values in protos, and their spelling in HLO text."""

from __future__ import annotations

from ccodegen.support.errors import InputError

_TYPES_FROM_1 = "pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128"
_TYPES_FROM_19 = "f8e5m2 f8e4m3fn s4 u4 f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4"
_TYPES_FROM_30 = "s1 u1 f4e2m1fn f8e8m0fnu buffer f6e3m2fn f6e2m3fn"

ELEMENT_TYPES = dict(
    enumerate(f"{_TYPES_FROM_1} {_TYPES_FROM_19} {_TYPES_FROM_30}".split(), start=1)
)

# Values from 0 on. "" stands for "not set": the attribute then takes its default.
_VALUES = {
    "random distribution": ("", "rng_uniform", "rng_normal"),
    "random algorithm": ("rng_default", "rng_three_fry", "rng_philox"),
    "FFT type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "transpose": ("", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "padding type": ("", "PADDING_VALID", "PADDING_SAME"),
    "custom call schedule": ("", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "custom call version": (
        "",
        "",  # API_VERSION_ORIGINAL, which HLO text leaves out
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ),
    "convolution kind": ("", "fprop", "dgrad", "wgrad"),
    "tri-state": ("", "true", "false"),
    "precision": ("default", "high", "highest"),
    "accuracy mode": ("default", "highest"),
    "dot algorithm": (
        "",
        "dot_any_f8_any_f8_f32",
        "dot_any_f8_any_f8_f32_fast_accum",
        "dot_f16_f16_f16",
        "dot_f16_f16_f32",
        "dot_bf16_bf16_bf16",
        "dot_bf16_bf16_f32",
        "dot_bf16_bf16_f32_x3",
        "dot_bf16_bf16_f32_x6",
        "dot_tf32_tf32_f32",
        "dot_tf32_tf32_f32_x3",
        "dot_f32_f32_f32",
        "dot_f64_f64_f64",
        "dot_bf16_bf16_f32_x9",
    ),
    "sharding": ("replicated", "maximal", "", "", "manual", "unknown", "unreduced"),
    "shard group": ("shard_as", "shard_like"),
    "alias kind": ("", "may-alias", "must-alias"),
}


def spelling(enum: str, value: int) -> str:
    """The text of an enum's value, "" where it is not set. Raises InputError for unknown ones."""
    names = _VALUES[enum]
    if not 0 <= value < len(names):
        raise InputError(f"unknown {enum} {value}")
    return names[value]
