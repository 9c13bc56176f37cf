"""Hints at the prompt: what may still follow, shown only while typing, and cut between words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.app.cli.redis.hints import fitting, hint
from tests.cli.shell import environment
from tests.support.server_process import TAILRACE
from tests.support.tmux import Tmux

ENTRY = "*|id field value [field value ...]"


@pytest.mark.parametrize(
    ("line", "still"),
    [
        ("XLEN", "key"),
        ("xlen s", ""),
        ("3 XLEN", "key"),
        ("XLEN s more", ""),
        ("NOSUCH", ""),
        ("XGROUP", "CREATE|SETID|DESTROY|CREATECONSUMER|DELCONSUMER|HELP"),
        ("XGROUP CREATE s g $", "[MKSTREAM] [ENTRIESREAD count]"),
        ("XRANGE s - +", "[COUNT count]"),
        ("XRANGE s - + COUNT", "count"),
        ("XRANGE s - + COUNT 5", ""),
        ("XADD s *", "field value [field value ...]"),
        ("XADD s * a", "value [field value ...]"),
        ("XADD s * a 1", "[field value ...]"),
        ("XADD s NOMKSTREAM * a 1 b", "value [field value ...]"),
        (
            "XADD s MAXLEN ~ 10",
            "[LIMIT count] [NOMKSTREAM] [KEEPREF|DELREF|ACKED] [IDMPAUTO pid | IDMP pid iid] " + ENTRY,
        ),
        (
            "XADD s IDMP p i",
            "[NOMKSTREAM] [KEEPREF|DELREF|ACKED] [MAXLEN|MINID [=|~] threshold [LIMIT count]] " + ENTRY,
        ),
        ("XTRIM s MAXLEN 5 LIMIT 1 ACKED", ""),
        ("XPENDING s", "group [[IDLE min-idle-ms] start end count [consumer]]"),
        ("XPENDING s g", "[[IDLE min-idle-ms] start end count [consumer]]"),
        ("XPENDING s g IDLE", "min-idle-ms start end count [consumer]"),
        ("XPENDING s g - + 10", "[consumer]"),
        ("XPENDING s g - + 10 c", ""),
        ("XREAD COUNT 1 STREAMS", "key [key ...] id [id ...]"),
        ("XREAD STREAMS s", "[key ...] id [id ...]"),
        ("XREAD STREAMS s 0", ""),
        ("XREAD STREAMS s t 0 0", ""),
        ("XREADGROUP GROUP g c NOACK STREAMS s >", ""),
        ("XACKDEL s g IDS 2 1", "id"),
        ("XACKDEL s g IDS 3 1", "id [1 more]"),
        ("XNACK s g FAIL IDS 1 1-1", "[RETRYCOUNT count] [FORCE]"),
        ("XNACK s g FAIL IDS 1 1-1 FORCE RETRYCOUNT 1", ""),
        (
            "XCLAIM s g c 0 1-1 2-1",
            "[id ...] [IDLE ms] [TIME unix-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]",
        ),
        ("XCLAIM s g c 0 1-1 IDLE 1 JUSTID", "[TIME unix-ms] [RETRYCOUNT count] [FORCE] [LASTID id]"),
        ("XINFO STREAM s FULL COUNT 1", ""),
        ("CONFIG SET a", "value [name value ...]"),
        ("PING", "[message]"),
        ("PING hello", ""),
    ],
)
def test_a_hint_shows_what_may_still_follow(line: str, still: str) -> None:
    assert hint(line.split()) == still


def test_a_hint_is_cut_between_words() -> None:
    assert fitting("key start end", 13) == "key start end"
    assert fitting("key start end", 12) == "key start …"
    assert fitting("key start end", 10) == "key …"
    assert fitting("key start end", 4) == ""
    assert fitting("key", 0) == ""


def test_a_hint_leaves_nothing_on_the_screen_and_never_wraps(base_url: str, tmp_path: Path) -> None:
    variables = environment(TAILRACE_URL=base_url, XDG_STATE_HOME=str(tmp_path))
    prompt = f"{base_url.removeprefix('http://')}>"
    with Tmux(tmp_path, variables, columns=60) as terminal:
        terminal.type(f"{TAILRACE} cli")
        terminal.press("Enter")
        terminal.shown(prompt)
        terminal.type("XADD hints")
        screen = terminal.shown("[NOMKSTREAM]")
        hinted = screen.splitlines()[-1]
        assert hinted.startswith(f"{prompt} XADD hints [NOMKSTREAM]")
        assert hinted.endswith(" …")
        terminal.type(" 1-1 a 1")
        terminal.shown("1-1 a 1 [field value ...]")
        terminal.press("Enter")
        screen = terminal.shown('"1-1"')
        assert f"{prompt} XADD hints 1-1 a 1\n" in screen
        assert "[field" not in screen
        terminal.type("XREAD STREAMS")
        terminal.shown("key [key ...]")
        terminal.press("C-c")
        screen = terminal.until(lambda shown: shown.endswith(f"{prompt}"))
        assert f"{prompt} XREAD STREAMS\n" in screen
