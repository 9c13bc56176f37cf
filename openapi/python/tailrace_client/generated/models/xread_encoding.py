from typing import Literal

XreadEncoding = Literal["base64"]

XREAD_ENCODING_VALUES: set[XreadEncoding] = {
    "base64",
}


def check_xread_encoding(value: str) -> XreadEncoding:
    if value in XREAD_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XREAD_ENCODING_VALUES!r}")
