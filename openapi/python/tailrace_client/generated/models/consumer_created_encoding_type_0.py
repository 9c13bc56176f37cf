from typing import Literal

ConsumerCreatedEncodingType0 = Literal["base64"]

CONSUMER_CREATED_ENCODING_TYPE_0_VALUES: set[ConsumerCreatedEncodingType0] = {
    "base64",
}


def check_consumer_created_encoding_type_0(value: str) -> ConsumerCreatedEncodingType0:
    if value in CONSUMER_CREATED_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CONSUMER_CREATED_ENCODING_TYPE_0_VALUES!r}"
    )
