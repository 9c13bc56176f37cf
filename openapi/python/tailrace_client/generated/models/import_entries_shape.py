from typing import Literal

ImportEntriesShape = Literal["entry", "fields"]

IMPORT_ENTRIES_SHAPE_VALUES: set[ImportEntriesShape] = {
    "entry",
    "fields",
}


def check_import_entries_shape(value: str) -> ImportEntriesShape:
    if value in IMPORT_ENTRIES_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IMPORT_ENTRIES_SHAPE_VALUES!r}")
