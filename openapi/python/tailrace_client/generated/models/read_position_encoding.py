from typing import Literal

ReadPositionEncoding = Literal["base64"]

READ_POSITION_ENCODING_VALUES: set[ReadPositionEncoding] = {
    "base64",
}


def check_read_position_encoding(value: str) -> ReadPositionEncoding:
    if value in READ_POSITION_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READ_POSITION_ENCODING_VALUES!r}")
