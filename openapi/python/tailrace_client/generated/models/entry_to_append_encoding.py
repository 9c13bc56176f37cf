from typing import Literal

EntryToAppendEncoding = Literal["base64"]

ENTRY_TO_APPEND_ENCODING_VALUES: set[EntryToAppendEncoding] = {
    "base64",
}


def check_entry_to_append_encoding(value: str) -> EntryToAppendEncoding:
    if value in ENTRY_TO_APPEND_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENTRY_TO_APPEND_ENCODING_VALUES!r}")
