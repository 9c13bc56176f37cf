"""The table of what commands need: complete, and of one mind with the grammar and the operations."""

from __future__ import annotations

import pytest

from tailrace.api.access.operation_scopes import OPERATION_NEEDS
from tailrace.api.access.permissions import KEYLESS, KEYS_OF, WHOLE_KEYSPACE, allowed, keys_of
from tailrace.api.ports import ANONYMOUS_LOCAL, Principal
from tailrace.core import commands as c
from tailrace.core.engine import HANDLERS
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.grammar import Scope, parse_request
from tests.support.api_client import the_document
from tests.support.command_lines import KNOWN, LINES, words_of

LISTINGS = set(c.Listing.__subclasses__())
OF_THE_SERVER_ITSELF = {c.ExpireIdempotencyKeys}


def principal(*scopes: Scope, keys: tuple[bytes, ...] = (b"race:*",)) -> Principal:
    return Principal("id", "gate", frozenset(scopes), keys)


def denied(who: Principal, scope: Scope, command: c.Command) -> StreamError:
    with pytest.raises(StreamError) as refusal:
        allowed(who, scope, command)
    assert refusal.value.code is ErrorCode.NOPERM
    return refusal.value


def test_every_command_of_the_engine_is_in_exactly_one_table() -> None:
    tabled: list[type[c.Command]] = [*KEYS_OF, *WHOLE_KEYSPACE, *KEYLESS, *LISTINGS]
    assert set(tabled) == set(HANDLERS) - OF_THE_SERVER_ITSELF
    assert len(set(tabled)) == len(tabled)


def test_a_command_of_no_table_is_refused() -> None:
    denied(principal("admin", keys=(b"*",)), "admin", c.ExpireIdempotencyKeys())


def test_there_is_a_line_for_every_command_of_the_grammar() -> None:
    assert set(LINES) == KNOWN


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_the_grammar_and_the_table_name_the_same_keys(name: str) -> None:
    request = parse_request([word.encode() for word in words_of(name)])
    if request.command is not None:
        assert tuple(keys_of(request.command)) == request.keys


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_an_operation_needs_what_the_command_of_its_name_needs(name: str) -> None:
    operation = name.replace("|", "_")
    if operation in OPERATION_NEEDS:
        request = parse_request([word.encode() for word in words_of(name)])
        assert OPERATION_NEEDS[operation] == request.scope


def test_every_operation_of_the_document_says_what_it_needs() -> None:
    operations = the_document().operations
    assert set(OPERATION_NEEDS) == set(operations)
    for name, operation in operations.items():
        if OPERATION_NEEDS[name] == "open":
            assert operation.spec["security"] == []
        else:
            assert operation.spec["x-required-scope"] == OPERATION_NEEDS[name]


def test_all_keys_must_match_and_the_refusal_names_the_one_that_does_not() -> None:
    who = principal("admin")
    command = c.DeleteKeys((b"race:france", b"boat:usa"))
    assert denied(who, "admin", command).details == {"required_scope": "admin", "key": "boat:usa"}
    own = c.DeleteKeys((b"race:france",))
    assert allowed(who, "admin", own) is own


def test_a_rename_and_a_copy_need_both_names() -> None:
    for command in (
        c.RenameKey(b"race:a", b"boat:a"),
        c.RenameKey(b"boat:a", b"race:a"),
        c.CopyKey(b"race:a", b"boat:a"),
        c.CopyKey(b"boat:a", b"race:a"),
    ):
        assert denied(principal("admin"), "admin", command).details["key"] == "boat:a"


def test_no_scope_implies_another() -> None:
    command = c.StreamLength(b"race:france")
    others: tuple[Scope, ...] = ("append", "consume", "admin")
    for scope in others:
        denied(principal(scope), "read", command)
    assert allowed(principal("read"), "read", command) is command


def test_what_concerns_all_keys_needs_the_pattern_for_all() -> None:
    for command in (c.Flush(), c.SetConfig(()), c.GetConfig(()), c.ServerInfo()):
        denied(principal("admin", "read", keys=(b"?*", b"race:*")), "admin", command)
        assert allowed(principal("admin", keys=(b"race:*", b"*")), "admin", command) is command


def test_a_list_is_narrowed_to_the_patterns_and_open_to_readers_and_administrators() -> None:
    listing: tuple[Scope, ...] = ("read", "admin")
    for scope in listing:
        narrowed = allowed(principal(scope), "admin", c.MatchKeys(b"*"))
        assert narrowed == c.MatchKeys(b"*", visible=(b"race:*",))
        everything = allowed(principal(scope, keys=(b"*",)), "admin", c.MatchKeys(b"*"))
        assert everything == c.MatchKeys(b"*")
    others: tuple[Scope, ...] = ("append", "consume")
    for scope in others:
        denied(principal(scope), "read", c.ListStreams())


def test_who_needs_no_token_may_do_all() -> None:
    assert allowed(ANONYMOUS_LOCAL, "admin", c.Flush()) == c.Flush()


def test_a_refusal_shows_a_key_in_one_line() -> None:
    error = denied(principal("read"), "read", c.StreamLength(b"a\nb\xff"))
    assert error.details["key"] == "a b\\xff"
    assert "\n" not in error.line
