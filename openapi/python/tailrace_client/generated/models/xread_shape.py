from typing import Literal

XreadShape = Literal["fields", "pairs"]

XREAD_SHAPE_VALUES: set[XreadShape] = {
    "fields",
    "pairs",
}


def check_xread_shape(value: str) -> XreadShape:
    if value in XREAD_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XREAD_SHAPE_VALUES!r}")
