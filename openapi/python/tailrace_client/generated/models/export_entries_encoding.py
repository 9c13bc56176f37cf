from typing import Literal

ExportEntriesEncoding = Literal["base64"]

EXPORT_ENTRIES_ENCODING_VALUES: set[ExportEntriesEncoding] = {
    "base64",
}


def check_export_entries_encoding(value: str) -> ExportEntriesEncoding:
    if value in EXPORT_ENTRIES_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_ENTRIES_ENCODING_VALUES!r}")
