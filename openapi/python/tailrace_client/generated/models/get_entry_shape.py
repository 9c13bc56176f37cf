from typing import Literal

GetEntryShape = Literal["fields", "pairs"]

GET_ENTRY_SHAPE_VALUES: set[GetEntryShape] = {
    "fields",
    "pairs",
}


def check_get_entry_shape(value: str) -> GetEntryShape:
    if value in GET_ENTRY_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_ENTRY_SHAPE_VALUES!r}")
