from typing import Literal

GroupDetailEncodingType0 = Literal["base64"]

GROUP_DETAIL_ENCODING_TYPE_0_VALUES: set[GroupDetailEncodingType0] = {
    "base64",
}


def check_group_detail_encoding_type_0(value: str) -> GroupDetailEncodingType0:
    if value in GROUP_DETAIL_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_DETAIL_ENCODING_TYPE_0_VALUES!r}")
