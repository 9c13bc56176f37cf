from typing import Literal

XautoclaimEncoding = Literal["base64"]

XAUTOCLAIM_ENCODING_VALUES: set[XautoclaimEncoding] = {
    "base64",
}


def check_xautoclaim_encoding(value: str) -> XautoclaimEncoding:
    if value in XAUTOCLAIM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XAUTOCLAIM_ENCODING_VALUES!r}")
