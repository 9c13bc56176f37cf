from typing import Literal

StreamPageEncoding = Literal["base64"]

STREAM_PAGE_ENCODING_VALUES: set[StreamPageEncoding] = {
    "base64",
}


def check_stream_page_encoding(value: str) -> StreamPageEncoding:
    if value in STREAM_PAGE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_PAGE_ENCODING_VALUES!r}")
