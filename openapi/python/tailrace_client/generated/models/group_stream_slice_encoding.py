from typing import Literal

GroupStreamSliceEncoding = Literal["base64"]

GROUP_STREAM_SLICE_ENCODING_VALUES: set[GroupStreamSliceEncoding] = {
    "base64",
}


def check_group_stream_slice_encoding(value: str) -> GroupStreamSliceEncoding:
    if value in GROUP_STREAM_SLICE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_STREAM_SLICE_ENCODING_VALUES!r}")
