from typing import Literal

LargeStreamEncoding = Literal["base64"]

LARGE_STREAM_ENCODING_VALUES: set[LargeStreamEncoding] = {
    "base64",
}


def check_large_stream_encoding(value: str) -> LargeStreamEncoding:
    if value in LARGE_STREAM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LARGE_STREAM_ENCODING_VALUES!r}")
