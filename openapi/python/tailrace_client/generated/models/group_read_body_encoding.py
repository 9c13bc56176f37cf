from typing import Literal

GroupReadBodyEncoding = Literal["base64"]

GROUP_READ_BODY_ENCODING_VALUES: set[GroupReadBodyEncoding] = {
    "base64",
}


def check_group_read_body_encoding(value: str) -> GroupReadBodyEncoding:
    if value in GROUP_READ_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_READ_BODY_ENCODING_VALUES!r}")
