from typing import Literal

XinfoStreamEncoding = Literal["base64"]

XINFO_STREAM_ENCODING_VALUES: set[XinfoStreamEncoding] = {
    "base64",
}


def check_xinfo_stream_encoding(value: str) -> XinfoStreamEncoding:
    if value in XINFO_STREAM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XINFO_STREAM_ENCODING_VALUES!r}")
