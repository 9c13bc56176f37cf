"""The conversions between entries and JSON where speed matters, with the fastest library that is
installed."""

try:
    from tailrace_client.with_msgspec import encode_json, encode_lines, entries_of_lines, slices_of
except ImportError:
    from tailrace_client.without_msgspec import encode_json, encode_lines, entries_of_lines, slices_of

__all__ = ["encode_json", "encode_lines", "entries_of_lines", "slices_of"]
