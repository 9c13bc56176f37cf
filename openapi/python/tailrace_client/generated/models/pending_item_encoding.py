from typing import Literal

PendingItemEncoding = Literal["base64"]

PENDING_ITEM_ENCODING_VALUES: set[PendingItemEncoding] = {
    "base64",
}


def check_pending_item_encoding(value: str) -> PendingItemEncoding:
    if value in PENDING_ITEM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PENDING_ITEM_ENCODING_VALUES!r}")
