from typing import Literal

StreamItemEncoding = Literal["base64"]

STREAM_ITEM_ENCODING_VALUES: set[StreamItemEncoding] = {
    "base64",
}


def check_stream_item_encoding(value: str) -> StreamItemEncoding:
    if value in STREAM_ITEM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_ITEM_ENCODING_VALUES!r}")
