from typing import Literal

XaddBatchTailraceTrace = Literal["entry"]

XADD_BATCH_TAILRACE_TRACE_VALUES: set[XaddBatchTailraceTrace] = {
    "entry",
}


def check_xadd_batch_tailrace_trace(value: str) -> XaddBatchTailraceTrace:
    if value in XADD_BATCH_TAILRACE_TRACE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XADD_BATCH_TAILRACE_TRACE_VALUES!r}")
