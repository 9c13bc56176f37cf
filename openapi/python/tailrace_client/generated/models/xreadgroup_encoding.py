from typing import Literal

XreadgroupEncoding = Literal["base64"]

XREADGROUP_ENCODING_VALUES: set[XreadgroupEncoding] = {
    "base64",
}


def check_xreadgroup_encoding(value: str) -> XreadgroupEncoding:
    if value in XREADGROUP_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XREADGROUP_ENCODING_VALUES!r}")
