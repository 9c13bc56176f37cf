from typing import Literal

XaddBodyEncoding = Literal["base64"]

XADD_BODY_ENCODING_VALUES: set[XaddBodyEncoding] = {
    "base64",
}


def check_xadd_body_encoding(value: str) -> XaddBodyEncoding:
    if value in XADD_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XADD_BODY_ENCODING_VALUES!r}")
