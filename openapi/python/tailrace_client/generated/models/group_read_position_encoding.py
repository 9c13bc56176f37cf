from typing import Literal

GroupReadPositionEncoding = Literal["base64"]

GROUP_READ_POSITION_ENCODING_VALUES: set[GroupReadPositionEncoding] = {
    "base64",
}


def check_group_read_position_encoding(value: str) -> GroupReadPositionEncoding:
    if value in GROUP_READ_POSITION_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_READ_POSITION_ENCODING_VALUES!r}")
