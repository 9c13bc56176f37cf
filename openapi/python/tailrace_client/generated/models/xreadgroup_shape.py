from typing import Literal

XreadgroupShape = Literal["fields", "pairs"]

XREADGROUP_SHAPE_VALUES: set[XreadgroupShape] = {
    "fields",
    "pairs",
}


def check_xreadgroup_shape(value: str) -> XreadgroupShape:
    if value in XREADGROUP_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XREADGROUP_SHAPE_VALUES!r}")
