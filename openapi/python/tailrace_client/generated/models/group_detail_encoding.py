from typing import Literal

GroupDetailEncoding = Literal["base64"]

GROUP_DETAIL_ENCODING_VALUES: set[GroupDetailEncoding] = {
    "base64",
}


def check_group_detail_encoding(value: str) -> GroupDetailEncoding:
    if value in GROUP_DETAIL_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_DETAIL_ENCODING_VALUES!r}")
