from typing import Literal

LargeStreamEncodingType0 = Literal["base64"]

LARGE_STREAM_ENCODING_TYPE_0_VALUES: set[LargeStreamEncodingType0] = {
    "base64",
}


def check_large_stream_encoding_type_0(value: str) -> LargeStreamEncodingType0:
    if value in LARGE_STREAM_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LARGE_STREAM_ENCODING_TYPE_0_VALUES!r}")
