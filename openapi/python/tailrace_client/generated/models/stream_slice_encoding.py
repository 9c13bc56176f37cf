from typing import Literal

StreamSliceEncoding = Literal["base64"]

STREAM_SLICE_ENCODING_VALUES: set[StreamSliceEncoding] = {
    "base64",
}


def check_stream_slice_encoding(value: str) -> StreamSliceEncoding:
    if value in STREAM_SLICE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_SLICE_ENCODING_VALUES!r}")
