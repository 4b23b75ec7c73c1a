"""The version of ccodegen, as generated files and cache keys state it."""

VERSION = "0.1.0"
