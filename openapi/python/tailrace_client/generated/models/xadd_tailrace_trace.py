from typing import Literal

XaddTailraceTrace = Literal["entry"]

XADD_TAILRACE_TRACE_VALUES: set[XaddTailraceTrace] = {
    "entry",
}


def check_xadd_tailrace_trace(value: str) -> XaddTailraceTrace:
    if value in XADD_TAILRACE_TRACE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XADD_TAILRACE_TRACE_VALUES!r}")
