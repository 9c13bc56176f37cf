from typing import Literal

StreamStateEncodingType0 = Literal["base64"]

STREAM_STATE_ENCODING_TYPE_0_VALUES: set[StreamStateEncodingType0] = {
    "base64",
}


def check_stream_state_encoding_type_0(value: str) -> StreamStateEncodingType0:
    if value in STREAM_STATE_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_STATE_ENCODING_TYPE_0_VALUES!r}")
