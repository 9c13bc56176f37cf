from typing import Literal

EngineSupportSupport = Literal["emulated", "native", "refused"]

ENGINE_SUPPORT_SUPPORT_VALUES: set[EngineSupportSupport] = {
    "emulated",
    "native",
    "refused",
}


def check_engine_support_support(value: str) -> EngineSupportSupport:
    if value in ENGINE_SUPPORT_SUPPORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENGINE_SUPPORT_SUPPORT_VALUES!r}")
