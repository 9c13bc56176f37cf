from typing import Literal

ImportEntriesTailraceTrace = Literal["entry"]

IMPORT_ENTRIES_TAILRACE_TRACE_VALUES: set[ImportEntriesTailraceTrace] = {
    "entry",
}


def check_import_entries_tailrace_trace(value: str) -> ImportEntriesTailraceTrace:
    if value in IMPORT_ENTRIES_TAILRACE_TRACE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IMPORT_ENTRIES_TAILRACE_TRACE_VALUES!r}")
