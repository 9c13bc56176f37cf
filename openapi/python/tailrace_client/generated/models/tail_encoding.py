from typing import Literal

TailEncoding = Literal["base64"]

TAIL_ENCODING_VALUES: set[TailEncoding] = {
    "base64",
}


def check_tail_encoding(value: str) -> TailEncoding:
    if value in TAIL_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TAIL_ENCODING_VALUES!r}")
