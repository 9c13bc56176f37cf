from typing import Literal

DeliveredEntryEncoding = Literal["base64"]

DELIVERED_ENTRY_ENCODING_VALUES: set[DeliveredEntryEncoding] = {
    "base64",
}


def check_delivered_entry_encoding(value: str) -> DeliveredEntryEncoding:
    if value in DELIVERED_ENTRY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELIVERED_ENTRY_ENCODING_VALUES!r}")
