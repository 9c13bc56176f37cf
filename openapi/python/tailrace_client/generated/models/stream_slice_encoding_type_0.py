from typing import Literal

StreamSliceEncodingType0 = Literal["base64"]

STREAM_SLICE_ENCODING_TYPE_0_VALUES: set[StreamSliceEncodingType0] = {
    "base64",
}


def check_stream_slice_encoding_type_0(value: str) -> StreamSliceEncodingType0:
    if value in STREAM_SLICE_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_SLICE_ENCODING_TYPE_0_VALUES!r}")
