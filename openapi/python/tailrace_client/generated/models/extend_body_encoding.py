from typing import Literal

ExtendBodyEncoding = Literal["base64"]

EXTEND_BODY_ENCODING_VALUES: set[ExtendBodyEncoding] = {
    "base64",
}


def check_extend_body_encoding(value: str) -> ExtendBodyEncoding:
    if value in EXTEND_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXTEND_BODY_ENCODING_VALUES!r}")
