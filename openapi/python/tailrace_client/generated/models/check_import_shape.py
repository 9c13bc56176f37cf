from typing import Literal

CheckImportShape = Literal["entry", "fields"]

CHECK_IMPORT_SHAPE_VALUES: set[CheckImportShape] = {
    "entry",
    "fields",
}


def check_check_import_shape(value: str) -> CheckImportShape:
    if value in CHECK_IMPORT_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHECK_IMPORT_SHAPE_VALUES!r}")
