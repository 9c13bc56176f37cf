from typing import Literal

XclaimShape = Literal["fields", "pairs"]

XCLAIM_SHAPE_VALUES: set[XclaimShape] = {
    "fields",
    "pairs",
}


def check_xclaim_shape(value: str) -> XclaimShape:
    if value in XCLAIM_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XCLAIM_SHAPE_VALUES!r}")
