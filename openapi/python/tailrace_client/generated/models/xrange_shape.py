from typing import Literal

XrangeShape = Literal["fields", "pairs"]

XRANGE_SHAPE_VALUES: set[XrangeShape] = {
    "fields",
    "pairs",
}


def check_xrange_shape(value: str) -> XrangeShape:
    if value in XRANGE_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XRANGE_SHAPE_VALUES!r}")
