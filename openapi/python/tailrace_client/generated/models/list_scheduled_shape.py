from typing import Literal

ListScheduledShape = Literal["fields", "pairs"]

LIST_SCHEDULED_SHAPE_VALUES: set[ListScheduledShape] = {
    "fields",
    "pairs",
}


def check_list_scheduled_shape(value: str) -> ListScheduledShape:
    if value in LIST_SCHEDULED_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SCHEDULED_SHAPE_VALUES!r}")
