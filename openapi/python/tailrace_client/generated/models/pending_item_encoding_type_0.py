from typing import Literal

PendingItemEncodingType0 = Literal["base64"]

PENDING_ITEM_ENCODING_TYPE_0_VALUES: set[PendingItemEncodingType0] = {
    "base64",
}


def check_pending_item_encoding_type_0(value: str) -> PendingItemEncodingType0:
    if value in PENDING_ITEM_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PENDING_ITEM_ENCODING_TYPE_0_VALUES!r}")
