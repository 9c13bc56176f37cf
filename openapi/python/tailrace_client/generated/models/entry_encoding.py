from typing import Literal

EntryEncoding = Literal["base64"]

ENTRY_ENCODING_VALUES: set[EntryEncoding] = {
    "base64",
}


def check_entry_encoding(value: str) -> EntryEncoding:
    if value in ENTRY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENTRY_ENCODING_VALUES!r}")
