from typing import Literal

GroupStreamSliceEncodingType0 = Literal["base64"]

GROUP_STREAM_SLICE_ENCODING_TYPE_0_VALUES: set[GroupStreamSliceEncodingType0] = {
    "base64",
}


def check_group_stream_slice_encoding_type_0(value: str) -> GroupStreamSliceEncodingType0:
    if value in GROUP_STREAM_SLICE_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {GROUP_STREAM_SLICE_ENCODING_TYPE_0_VALUES!r}"
    )
