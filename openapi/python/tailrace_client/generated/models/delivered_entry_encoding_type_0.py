from typing import Literal

DeliveredEntryEncodingType0 = Literal["base64"]

DELIVERED_ENTRY_ENCODING_TYPE_0_VALUES: set[DeliveredEntryEncodingType0] = {
    "base64",
}


def check_delivered_entry_encoding_type_0(value: str) -> DeliveredEntryEncodingType0:
    if value in DELIVERED_ENTRY_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELIVERED_ENTRY_ENCODING_TYPE_0_VALUES!r}")
