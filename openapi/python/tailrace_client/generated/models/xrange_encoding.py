from typing import Literal

XrangeEncoding = Literal["base64"]

XRANGE_ENCODING_VALUES: set[XrangeEncoding] = {
    "base64",
}


def check_xrange_encoding(value: str) -> XrangeEncoding:
    if value in XRANGE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XRANGE_ENCODING_VALUES!r}")
