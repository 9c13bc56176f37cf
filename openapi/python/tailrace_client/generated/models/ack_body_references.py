from typing import Literal

AckBodyReferences = Literal["acknowledged", "delete", "keep"]

ACK_BODY_REFERENCES_VALUES: set[AckBodyReferences] = {
    "acknowledged",
    "delete",
    "keep",
}


def check_ack_body_references(value: str) -> AckBodyReferences:
    if value in ACK_BODY_REFERENCES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACK_BODY_REFERENCES_VALUES!r}")
