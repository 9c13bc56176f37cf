"""The HTML page of one problem code, without scripts and without files from other servers.

It owns the layout of the page. The texts are in `api.problems.help`.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Final

from tailrace.api.problems.examples import EXAMPLES
from tailrace.api.problems.help import HELP
from tailrace.api.problems.help.reference import retry_text, side_effects_text
from tailrace.api.problems.table import KINDS, ProblemCode, slug_of

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
