from typing import Literal

StreamPageEncodingType0 = Literal["base64"]

STREAM_PAGE_ENCODING_TYPE_0_VALUES: set[StreamPageEncodingType0] = {
    "base64",
}


def check_stream_page_encoding_type_0(value: str) -> StreamPageEncodingType0:
    if value in STREAM_PAGE_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_PAGE_ENCODING_TYPE_0_VALUES!r}")
