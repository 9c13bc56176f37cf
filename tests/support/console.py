"""The console in a browser: opening views, pressing buttons, filling fields, and what axe-core finds.

Owns the words for what people do on the pages. It contains no expectation about a particular view.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import httpx
import msgspec

from tests.support.browser import Page

ROOT: Final = Path(__file__).parents[2]
AXE: Final = ROOT / "app/console/node_modules/axe-core/axe.min.js"
SERIOUS: Final = frozenset({"serious", "critical"})


class Console:
    """The console of one server in one browser."""

    def __init__(self, page: Page, base_url: str) -> None:
        self.page = page
        self.base_url = base_url
        self.http = httpx.Client(base_url=base_url, trust_env=False, timeout=60)

    # --- what people do --------------------------------------------------------------------------

    def open(self, view: str = "", **parameters: str) -> None:
        """Load a view by its URL."""
        path = f"/console/{view}" if view else "/"
        query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
        self.page.complaints.clear()
        self.page.load(f"{self.base_url}{path}{query}")
        self.page.until("document.querySelector('main')?.textContent")

    def until_text(self, text: str, within: str = "main") -> None:
        """Wait until a part of the page has a text."""
        self.page.until(f"document.querySelector({js(within)})?.textContent.includes({js(text)})")

    def text(self, within: str = "main") -> str:
        found: str = self.page.evaluate(f"document.querySelector({js(within)}).textContent")
        return found

    def press(self, name: str, within: str = "main") -> None:
        """Press the button, or follow the link, with this name, as soon as it is there and on."""
        self.page.until(
            f"(() => {{ const found = [...document.querySelectorAll({js(within)} + ' :is(button, a)')]"
            f".find((each) => (each.getAttribute('aria-label') ?? each.textContent) === {js(name)}"
            " && each.ariaDisabled !== 'true' && !each.disabled);"
            " found?.click(); return found !== undefined; })()"
        )

    def fill(self, label: str, text: str, within: str = "main") -> None:
        """Write a text into the field with this label, in place of what it has."""
        self.page.until(
            f"(() => {{ const found = {_control(label, within, ':is(input, textarea)')};"
            " found.focus(); found.select(); return document.activeElement === found; })()"
        )
        self.page.write(text)

    def select(self, label: str, value: str, within: str = "main") -> None:
        """Choose an option of the list with this label."""
        self.page.until(
            f"(() => {{ const found = {_control(label, within, 'select')}; found.value = {js(value)};"
            " found.dispatchEvent(new Event('change', {bubbles: true})); return found.value !== ''; })()"
        )

    def button_is_off(self, name: str) -> str | None:
        """Return why a button is off, None if it is on."""
        reason: str | None = self.page.until(
            "(() => { const found = [...document.querySelectorAll('main button')]"
            f".find((each) => each.textContent === {js(name)});"
            " return found && [found.ariaDisabled === 'true' ? found.title : null]; })()"
        )[0]
        return reason

    # --- what the tests look at ------------------------------------------------------------------

    def violations(self) -> list[str]:
        """Return the serious violations that axe-core finds on the page, with the elements concerned."""
        self.page.evaluate(f"{AXE.read_text()}; undefined")
        found = self.page.evaluate(
            "axe.run({resultTypes: ['violations']}).then(({violations}) => violations)"
        )
        return [
            f"{each['id']}: {each['help']} at {[node['html'] for node in each['nodes']][:3]}"
            for each in found
            if each["impact"] in SERIOUS
        ]

    # --- the server behind the page --------------------------------------------------------------

    def command(self, *words: Any) -> Any:
        """Run a Redis command on the server, without the page."""
        answer = self.http.post("/v1/command", json=list(words)).json()
        assert "result" in answer, answer
        return answer["result"]

    def append(self, key: str, entries: Sequence[dict[str, str]]) -> list[str]:
        """Append entries without the page, and return their ids."""
        body = {"entries": [{"fields": fields} for fields in entries]}
        answer = self.http.post(
            f"/v1/streams/{quote(key, safe='')}/entries:batch", params={"ids": "true"}, json=body
        )
        assert answer.status_code == 201, answer.text
        ids: list[str] = answer.json()["ids"]
        return ids


def js(value: object) -> str:
    """Return a value as an expression of JavaScript."""
    return msgspec.json.encode(value).decode()


def _control(label: str, within: str, kind: str) -> str:
    """Return an expression of the control with this label. The label is its own or a part of the page."""
    own = "each.getAttribute('aria-label') ?? each.labels[0]?.querySelector('span')?.textContent"
    return f"[...document.querySelectorAll({js(f'{within} {kind}')})].find((each) => ({own}) === {js(label)})"
