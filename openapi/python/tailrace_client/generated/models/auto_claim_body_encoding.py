from typing import Literal

AutoClaimBodyEncoding = Literal["base64"]

AUTO_CLAIM_BODY_ENCODING_VALUES: set[AutoClaimBodyEncoding] = {
    "base64",
}


def check_auto_claim_body_encoding(value: str) -> AutoClaimBodyEncoding:
    if value in AUTO_CLAIM_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUTO_CLAIM_BODY_ENCODING_VALUES!r}")
