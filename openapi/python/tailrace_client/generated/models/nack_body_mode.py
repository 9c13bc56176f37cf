from typing import Literal

NackBodyMode = Literal["fail", "fatal", "silent"]

NACK_BODY_MODE_VALUES: set[NackBodyMode] = {
    "fail",
    "fatal",
    "silent",
}


def check_nack_body_mode(value: str) -> NackBodyMode:
    if value in NACK_BODY_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NACK_BODY_MODE_VALUES!r}")
