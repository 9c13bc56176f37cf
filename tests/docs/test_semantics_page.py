"""`docs/semantics.md`: its examples run on the engine, and its tables are complete and correct."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tailrace.api.access.permissions import denied
from tailrace.api.principals import Principal
from tailrace.api.routes.command import DISCARDED
from tailrace.api.schemas.limits import Limits
from tailrace.core.command_table import SYNTAXES
from tailrace.core.errors import StreamError
from tailrace.core.parser import parse_request
from tests.support.command_lines import KNOWN, words_of
from tests.support.engine_peer import EnginePeer
from tests.support.error_texts import error_patterns
from tests.support.pages import fenced
from tests.support.redis_blocks import Reply, Words, check_block
from tests.support.redis_like import ErrorLine, R, to_words
from tests.support.semantics_page import OF_REDIS, PAGE, code_in, commands_of, rows, section

COMMANDS_TABLE: Final = "## Commands"
OF_TAILRACE: Final = "### Lines that only Tailrace has"
OF_REST: Final = "### Lines of requests that no command makes"
BOUNDS: Final = "## Bounds"

BEHIND_ARITY: Final = "ERR IDS option is required"
"""Arity refuses every command that would get this line; the page says so."""

OF_THE_API: Final = {"NOPERM", "TRANSACTION_ABORTED"}


def exact(words: Words, reply: Reply) -> Reply:
    del words
    return reply


def names() -> list[str]:
    """The first cells of the table of commands, as the grammar names them."""
    return [code_in(row[0])[0].lower().replace(" ", "|") for row in rows(COMMANDS_TABLE)]


def arity_of(name: str) -> int:
    return SYNTAXES[name].arity


def lines_of(heading: str) -> list[str]:
    return [code_in(row[0])[0] for row in rows(heading)]


@pytest.mark.parametrize("block", [*fenced(PAGE, "redis"), *fenced(PAGE, "tailrace")])
def test_an_example_gets_exactly_the_replies_of_the_page(block: str) -> None:
    check_block(block, EnginePeer(), exact)


def test_the_table_of_commands_has_each_command_once_with_its_arity_and_scope() -> None:
    assert sorted(names()) == sorted(KNOWN)
    for name, row in zip(names(), rows(COMMANDS_TABLE), strict=True):
        scope = parse_request(to_words(words_of(name))).access
        assert row[1:3] == [str(arity_of(name)), scope], name


def test_every_command_has_a_line_of_syntax() -> None:
    syntax = [" ".join(line.split()) for block in fenced(PAGE, "text") for line in block.splitlines()]
    spelled = [name.replace("|", " ").upper() for name in KNOWN]
    assert [name for name in spelled if not any(f"{line} ".startswith(f"{name} ") for line in syntax)] == []


@pytest.mark.parametrize("row", rows(OF_REDIS), ids=lambda row: row[2])
def test_a_command_of_the_table_of_errors_gets_its_line_and_code(row: list[str]) -> None:
    r = R()
    *before, last = commands_of(row)
    for words in before:
        assert not isinstance(r.run(*words), ErrorLine), words
    with pytest.raises(StreamError) as refused:
        r.outcome(*last)
    assert [refused.value.line] == code_in(row[0])
    assert [refused.value.code] == code_in(row[1])


def test_every_error_text_of_the_engine_is_on_the_page() -> None:
    on_the_page = [*lines_of(OF_REDIS), *lines_of(OF_TAILRACE), *lines_of(OF_REST), BEHIND_ARITY]
    assert BEHIND_ARITY in section(OF_REDIS)
    missing = [text for text in error_patterns() if not any(re.search(text, line) for line in on_the_page)]
    assert missing == []


@pytest.mark.parametrize("row", [*rows(OF_TAILRACE), *rows(OF_REST)], ids=lambda row: row[0])
def test_a_line_of_tailrace_is_made_of_a_text_of_the_engine(row: list[str]) -> None:
    (line,), (code,) = code_in(row[0]), code_in(row[1])
    if code not in OF_THE_API:
        assert any(re.fullmatch(f"(ERR )?{text}", line) for text in error_patterns() - {r"ERR\ .*"})


def test_the_lines_of_tokens_and_transactions_are_those_of_the_api() -> None:
    gate = Principal("1", "gate", frozenset({"read"}), (b"race",))
    assert denied(gate, "append", b"race").line in lines_of(OF_TAILRACE)
    assert DISCARDED in lines_of(OF_TAILRACE)


@pytest.mark.parametrize(
    "words",
    [
        ["XAUTOCLAIM", "s", "g", "bob", 0, 0, "COUNT", (1 << 32) + 1],
        ["XLEN", *["s"] * 262_144],
        ["XDEL", "s", *["1-1"] * 20_001],
        ["XREAD", "STREAMS", *["s"] * 1_001, *["0"] * 1_001],
        ["XLEN", "s" * 513],
        ["KEYS", "s" * 1_025],
        ["XADD", "s", "*", *["f", "v"] * 65_537],
    ],
    ids=lambda words: words[0],
)
def test_a_command_beyond_a_bound_gets_a_line_of_the_page(words: list[str | int]) -> None:
    r = R()
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    assert r.run(*words) in lines_of(OF_TAILRACE)


def test_the_bounds_are_those_of_the_server() -> None:
    limits = Limits.model_json_schema()["example"]
    for row in rows(BOUNDS):
        assert limits[code_in(row[0])[0]] == int(row[1]), row
