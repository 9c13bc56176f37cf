from typing import Literal

XclaimEncoding = Literal["base64"]

XCLAIM_ENCODING_VALUES: set[XclaimEncoding] = {
    "base64",
}


def check_xclaim_encoding(value: str) -> XclaimEncoding:
    if value in XCLAIM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XCLAIM_ENCODING_VALUES!r}")
