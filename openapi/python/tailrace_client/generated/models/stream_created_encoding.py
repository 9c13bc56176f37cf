from typing import Literal

StreamCreatedEncoding = Literal["base64"]

STREAM_CREATED_ENCODING_VALUES: set[StreamCreatedEncoding] = {
    "base64",
}


def check_stream_created_encoding(value: str) -> StreamCreatedEncoding:
    if value in STREAM_CREATED_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_CREATED_ENCODING_VALUES!r}")
