from typing import Literal

PendingOfConsumerEncodingType0 = Literal["base64"]

PENDING_OF_CONSUMER_ENCODING_TYPE_0_VALUES: set[PendingOfConsumerEncodingType0] = {
    "base64",
}


def check_pending_of_consumer_encoding_type_0(value: str) -> PendingOfConsumerEncodingType0:
    if value in PENDING_OF_CONSUMER_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PENDING_OF_CONSUMER_ENCODING_TYPE_0_VALUES!r}"
    )
