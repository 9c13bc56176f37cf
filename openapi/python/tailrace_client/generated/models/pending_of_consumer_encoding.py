from typing import Literal

PendingOfConsumerEncoding = Literal["base64"]

PENDING_OF_CONSUMER_ENCODING_VALUES: set[PendingOfConsumerEncoding] = {
    "base64",
}


def check_pending_of_consumer_encoding(value: str) -> PendingOfConsumerEncoding:
    if value in PENDING_OF_CONSUMER_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PENDING_OF_CONSUMER_ENCODING_VALUES!r}")
