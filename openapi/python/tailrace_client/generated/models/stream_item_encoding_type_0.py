from typing import Literal

StreamItemEncodingType0 = Literal["base64"]

STREAM_ITEM_ENCODING_TYPE_0_VALUES: set[StreamItemEncodingType0] = {
    "base64",
}


def check_stream_item_encoding_type_0(value: str) -> StreamItemEncodingType0:
    if value in STREAM_ITEM_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_ITEM_ENCODING_TYPE_0_VALUES!r}")
