from typing import Literal

XrangeOrder = Literal["asc", "desc"]

XRANGE_ORDER_VALUES: set[XrangeOrder] = {
    "asc",
    "desc",
}


def check_xrange_order(value: str) -> XrangeOrder:
    if value in XRANGE_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XRANGE_ORDER_VALUES!r}")
