"""All problem codes as Markdown: `docs/errors.md`, printed by `tailrace openapi --errors`.

It owns the layout of that page, and the sentences on repeating a request. All other texts come from the
tables of `api.problems.table`, `api.problems.help` and `api.problems.examples`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tailrace.api.problems.examples import EXAMPLES
from tailrace.api.problems.help import HELP
from tailrace.api.problems.table import KINDS, HttpCode, ProblemCode, slug_of

_INTRODUCTION: Final = """\
# Errors

<!-- Written by `make documents` from api/problems/table.py and api/problems/help; do not edit it here. -->

This page lists every error code of the API. Each error is a problem (RFC 9457, `application/problem+json`).

Branch on `code`: it is stable, although later versions may add codes. `detail` is for people, and its wording
may change. `type` is the path of a page on the same server that explains the code, such as
`/problems/id-not-greater`; that page needs no token.

* `retryable`: whether the same request can succeed later, unchanged. If the response has `Retry-After`,
  wait that long.
* `side_effects`: `none` if the request changed nothing, `unknown` if the server cannot tell.
* `request_id`: the id of the request in the server's log.

Other members hold what a client needs to continue, such as `last_id`. `key`, `group`, `consumer` and `id`
name what the error is about. Errors over WebSockets have the same codes. In the reply of a pipeline, each
failed command has Redis's error line as `error`, without a code.
"""


def errors_markdown() -> str:
    """Return the page as Markdown."""
    return "\n".join((_INTRODUCTION, *_table(), *map(_section, KINDS)))


def retry_text(code: ProblemCode) -> str:
    """Return a sentence that says whether the same request can succeed later."""
    if code is HttpCode.NOT_ACCEPTING:
        return "The same request can succeed later if the member `retryable` is true."
    if KINDS[code].retryable:
        return "The same request can succeed later, unchanged."
    return "The same request fails again until something else changes."


def side_effects_text(code: ProblemCode) -> str:
    """Return a sentence that says whether the request may have changed something."""
    if code is HttpCode.INTERNAL:
        return "The request may have taken effect: `side_effects` is `unknown`."
    if code is HttpCode.NOT_ACCEPTING:
        return "Nothing was changed, unless `side_effects` is `unknown`."
    return "Nothing was changed: `side_effects` is `none`."


def _table() -> Iterator[str]:
    yield "| code | status | retryable | meaning |"
    yield "|---|---|---|---|"
    for code, kind in KINDS.items():
        retryable = "depends" if code is HttpCode.NOT_ACCEPTING else "yes" if kind.retryable else "no"
        yield f"| [`{code}`](#{str(code).lower()}) | {kind.status} | {retryable} | {kind.title} |"
    yield ""


def _section(code: ProblemCode) -> str:
    kind, help_ = KINDS[code], HELP[code]
    example = EXAMPLES.get(code)
    return f"""\
## {code}

{kind.title}. Status {kind.status}, `type` `/problems/{slug_of(code)}`.

**What happened.** {help_.happened}

**Why.** {help_.cause}

**What to do.** {help_.remedy}

{retry_text(code)} {side_effects_text(code)}

An example of `detail`:

```text
{kind.title if example is None else example.detail}
```

A request that works:

```http
{help_.request}
```
"""
