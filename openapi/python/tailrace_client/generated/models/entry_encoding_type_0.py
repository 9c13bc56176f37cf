from typing import Literal

EntryEncodingType0 = Literal["base64"]

ENTRY_ENCODING_TYPE_0_VALUES: set[EntryEncodingType0] = {
    "base64",
}


def check_entry_encoding_type_0(value: str) -> EntryEncodingType0:
    if value in ENTRY_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENTRY_ENCODING_TYPE_0_VALUES!r}")
