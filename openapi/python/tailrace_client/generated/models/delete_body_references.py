from typing import Literal

DeleteBodyReferences = Literal["acknowledged", "delete", "keep"]

DELETE_BODY_REFERENCES_VALUES: set[DeleteBodyReferences] = {
    "acknowledged",
    "delete",
    "keep",
}


def check_delete_body_references(value: str) -> DeleteBodyReferences:
    if value in DELETE_BODY_REFERENCES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELETE_BODY_REFERENCES_VALUES!r}")
