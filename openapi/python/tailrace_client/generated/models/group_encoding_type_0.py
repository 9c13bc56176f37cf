from typing import Literal

GroupEncodingType0 = Literal["base64"]

GROUP_ENCODING_TYPE_0_VALUES: set[GroupEncodingType0] = {
    "base64",
}


def check_group_encoding_type_0(value: str) -> GroupEncodingType0:
    if value in GROUP_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_ENCODING_TYPE_0_VALUES!r}")
