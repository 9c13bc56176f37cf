from typing import Literal

StreamStateEncoding = Literal["base64"]

STREAM_STATE_ENCODING_VALUES: set[StreamStateEncoding] = {
    "base64",
}


def check_stream_state_encoding(value: str) -> StreamStateEncoding:
    if value in STREAM_STATE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_STATE_ENCODING_VALUES!r}")
