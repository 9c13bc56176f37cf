from typing import Literal

DeleteOutcomeResult = Literal["deleted", "not_found", "referenced"]

DELETE_OUTCOME_RESULT_VALUES: set[DeleteOutcomeResult] = {
    "deleted",
    "not_found",
    "referenced",
}


def check_delete_outcome_result(value: str) -> DeleteOutcomeResult:
    if value in DELETE_OUTCOME_RESULT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELETE_OUTCOME_RESULT_VALUES!r}")
