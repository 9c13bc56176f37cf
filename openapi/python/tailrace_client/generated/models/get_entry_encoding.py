from typing import Literal

GetEntryEncoding = Literal["base64"]

GET_ENTRY_ENCODING_VALUES: set[GetEntryEncoding] = {
    "base64",
}


def check_get_entry_encoding(value: str) -> GetEntryEncoding:
    if value in GET_ENTRY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_ENTRY_ENCODING_VALUES!r}")
