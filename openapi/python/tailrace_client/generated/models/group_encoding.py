from typing import Literal

GroupEncoding = Literal["base64"]

GROUP_ENCODING_VALUES: set[GroupEncoding] = {
    "base64",
}


def check_group_encoding(value: str) -> GroupEncoding:
    if value in GROUP_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_ENCODING_VALUES!r}")
