"""Tokens in the console: signing in, what a limited token sees, buttons that are off and say why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.browser import browsing
from tests.support.console import Console
from tests.support.server_process import running_server
from tests.support.tokens import ALL_SCOPES, bearer, make_token, revoke_token

KEY: Final = "race:france"


class Guarded:
    """The console of a server with tokens. `reader` may read `race:*` and do nothing else."""

    def __init__(self, console: Console, tokens_file: Path) -> None:
        self.console = console
        self.tokens_file = tokens_file
        root = make_token(tokens_file, *ALL_SCOPES, name="root")
        self.reader = make_token(tokens_file, "read", keys=["race:*"], name="reader")
        console.http.headers.update(bearer(root))

    def sign_in(self, token: str) -> None:
        """Begin a tab's life: without a token, then with this one."""
        self.console.open()
        self.console.page.evaluate("sessionStorage.clear()")
        self.console.open("access")
        self.console.until_text("This server requires a token.")
        self.console.fill("Token", token)
        self.console.press("Use this token")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    directory = tmp_path_factory.mktemp("guarded")
    tokens_file = directory / "tokens.json"
    make_token(tokens_file, "read", name="first")
    with (
        running_server(directory, "--tokens-file", str(tokens_file)) as server,
        browsing("about:blank", directory / "profile") as page,
    ):
        console = Console(page, server.base_url)
        made = Guarded(console, tokens_file)
        # The server reads the file again within a quarter of a second; the reader's token was made last.
        while console.http.get("/v1/access", headers=bearer(made.reader)).status_code == 401:
            pass
        for key in (KEY, "other:secret"):
            console.append(key, [{"rider": "Castilla"}])
        console.command("XGROUP", "CREATE", KEY, "judges", "0")
        console.command("XREADGROUP", "GROUP", "judges", "alice", "STREAMS", KEY, ">")
        yield made


def test_the_server_shows_what_a_token_may_do(guarded: Guarded) -> None:
    shown = guarded.console.http.get("/v1/access", headers=bearer(guarded.reader)).json()
    assert shown.pop("token_id") == guarded.reader.split("_")[1]
    assert shown == {"token": "reader", "scopes": ["read"], "key_patterns": ["race:*"], "expires_at_ms": None}
    assert guarded.console.http.get("/v1/access", headers=bearer("tlr_none")).status_code == 401


def test_a_limited_token_sees_its_streams_and_its_rights(guarded: Guarded) -> None:
    guarded.sign_in(guarded.reader)
    guarded.console.until_text("This tab uses the token reader")
    guarded.console.until_text("race:*")
    guarded.console.press("Streams", "header")
    guarded.console.until_text(KEY)
    assert "other:secret" not in guarded.console.text()


def test_buttons_that_a_token_may_not_use_are_off_and_say_why(guarded: Guarded) -> None:
    guarded.sign_in(guarded.reader)
    guarded.console.until_text("This tab uses the token reader")
    guarded.console.open("manage", key=KEY)
    guarded.console.until_text("lacks the scope admin")
    assert guarded.console.button_is_off("Delete stream") == "The token reader lacks the scope admin."
    buttons = "[...document.querySelectorAll('button')]"
    guarded.console.page.evaluate(f"{buttons}.find((each) => each.textContent === 'Delete stream').click()")
    assert guarded.console.page.evaluate("document.querySelector('dialog')") is None
    guarded.console.open("pending", key=KEY)
    guarded.console.until_text("lacks the scope consume")
    assert guarded.console.button_is_off("Acknowledge") == "The token reader lacks the scope consume."


def test_a_limited_token_sees_the_figures_of_the_server_and_why_not_more(guarded: Guarded) -> None:
    guarded.sign_in(guarded.reader)
    guarded.console.until_text("This tab uses the token reader")
    guarded.console.open("server")
    guarded.console.until_text("slow operations and audit lines are off: The token reader lacks the scope")
    guarded.console.until_text("Commit, median")
    assert "other:secret" not in guarded.console.text()
    assert guarded.console.page.complaints == []


def test_the_live_tail_uses_a_ticket_and_no_url_has_the_token(guarded: Guarded) -> None:
    guarded.sign_in(guarded.reader)
    guarded.console.until_text("This tab uses the token reader")
    guarded.console.open("stream", key=KEY, live="1")
    guarded.console.page.until("document.querySelector('.live[data-open=true]')")
    [appended] = guarded.console.append(KEY, [{"rider": "Norem"}])
    guarded.console.until_text(appended)
    addresses = "performance.getEntriesByType('resource').map((entry) => entry.name).join(' ')"
    assert guarded.reader not in guarded.console.page.evaluate(addresses)
    stored = "JSON.stringify([{...localStorage}, document.cookie, document.documentElement.outerHTML])"
    assert guarded.reader not in guarded.console.page.evaluate(stored)


def test_signing_out_forgets_the_token(guarded: Guarded) -> None:
    guarded.sign_in(guarded.reader)
    guarded.console.until_text("This tab uses the token reader")
    guarded.console.press("Sign out")
    guarded.console.until_text("This server requires a token.")
    assert guarded.console.page.evaluate("sessionStorage.length") == 0


def test_a_revoked_token_leads_to_the_sign_in(guarded: Guarded) -> None:
    passing = make_token(guarded.tokens_file, "read", name="passing")
    while guarded.console.http.get("/v1/access", headers=bearer(passing)).status_code == 401:
        pass
    guarded.sign_in(passing)
    guarded.console.until_text("This tab uses the token passing")
    revoke_token(guarded.tokens_file, passing)
    while guarded.console.http.get("/v1/access", headers=bearer(passing)).status_code == 200:
        pass
    guarded.console.open("access")
    guarded.console.until_text("The server does not accept the token of this tab.")
