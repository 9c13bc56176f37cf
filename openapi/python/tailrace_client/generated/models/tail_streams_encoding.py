from typing import Literal

TailStreamsEncoding = Literal["base64"]

TAIL_STREAMS_ENCODING_VALUES: set[TailStreamsEncoding] = {
    "base64",
}


def check_tail_streams_encoding(value: str) -> TailStreamsEncoding:
    if value in TAIL_STREAMS_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TAIL_STREAMS_ENCODING_VALUES!r}")
