from typing import Literal

StreamCreatedEncodingType0 = Literal["base64"]

STREAM_CREATED_ENCODING_TYPE_0_VALUES: set[StreamCreatedEncodingType0] = {
    "base64",
}


def check_stream_created_encoding_type_0(value: str) -> StreamCreatedEncodingType0:
    if value in STREAM_CREATED_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_CREATED_ENCODING_TYPE_0_VALUES!r}")
