from typing import Literal

XautoclaimShape = Literal["fields", "pairs"]

XAUTOCLAIM_SHAPE_VALUES: set[XautoclaimShape] = {
    "fields",
    "pairs",
}


def check_xautoclaim_shape(value: str) -> XautoclaimShape:
    if value in XAUTOCLAIM_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XAUTOCLAIM_SHAPE_VALUES!r}")
