from typing import Literal

ClaimBodyEncoding = Literal["base64"]

CLAIM_BODY_ENCODING_VALUES: set[ClaimBodyEncoding] = {
    "base64",
}


def check_claim_body_encoding(value: str) -> ClaimBodyEncoding:
    if value in CLAIM_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLAIM_BODY_ENCODING_VALUES!r}")
