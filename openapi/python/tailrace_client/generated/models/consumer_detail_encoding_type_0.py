from typing import Literal

ConsumerDetailEncodingType0 = Literal["base64"]

CONSUMER_DETAIL_ENCODING_TYPE_0_VALUES: set[ConsumerDetailEncodingType0] = {
    "base64",
}


def check_consumer_detail_encoding_type_0(value: str) -> ConsumerDetailEncodingType0:
    if value in CONSUMER_DETAIL_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSUMER_DETAIL_ENCODING_TYPE_0_VALUES!r}")
