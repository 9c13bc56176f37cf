"""The help on problem codes as pages: all codes as Markdown (`docs/errors.md`, printed by `tailrace
openapi --errors`), and one code as HTML, without scripts and without files from other servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
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


_STYLE: Final = """
:root { color-scheme: light dark; --ground: #fbfbf9; --ink: #1d2329; --quiet: #56616b; --code: #eef0f0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181b; --ink: #e3e7ea; --quiet: #a3aeb7; --code: #22282d; }
}
body { max-width: 44rem; margin: 0 auto; padding: 1.5rem; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { margin: 0 0 .2rem; font-size: 1.5rem; }
h2 { margin: 1.4rem 0 .2rem; font-size: 1rem; }
p { margin: .2rem 0; }
.quiet { color: var(--quiet); }
code, pre { font: .9rem/1.5 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .05rem .25rem; }
pre { padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: inherit; }
"""

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{code}: {title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="quiet"><code>{code}</code>, status {status}, type <code>/problems/{slug}</code></p>
<h2>What happened</h2>
<p>{happened}</p>
<h2>Why</h2>
<p>{cause}</p>
<h2>What to do</h2>
<p>{remedy}</p>
<h2>A request that works</h2>
<pre>{request}</pre>
<h2>Repeating the request</h2>
<p>{retry} {side_effects}</p>
<h2>An example of <code>detail</code></h2>
<pre>{detail}</pre>
</main>
<p class="quiet"><a href="/docs">The operations of this server</a></p>
</body>
</html>
"""

_CODE: Final = re.compile(r"`([^`]+)`")


@cache
def problem_html(code: ProblemCode) -> str:
    """Return the page of `code`. The pages are cached."""
    kind, help_ = KINDS[code], HELP[code]
    example = EXAMPLES.get(code)
    return _PAGE.format(
        style=_STYLE,
        code=code,
        slug=slug_of(code),
        title=escape(kind.title),
        status=kind.status,
        happened=_inline(help_.happened),
        cause=_inline(help_.cause),
        remedy=_inline(help_.remedy),
        request=escape(help_.request),
        retry=_inline(retry_text(code)),
        side_effects=_inline(side_effects_text(code)),
        detail=escape(kind.title if example is None else example.detail),
    )


def _inline(text: str) -> str:
    """Return `text` as HTML, with `<code>` for backquotes."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))
