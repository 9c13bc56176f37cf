"""The table of the scopes of commands is complete, and agrees with the grammar and the operations."""

from __future__ import annotations

import pytest

from tailrace.api.access.permissions import allowed, need_of
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal, TokenScope
from tailrace.core import commands as c
from tailrace.core.command_table import DESCRIPTORS, Reach, keys_of
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.parser import parse_request
from tests.support.api_client import the_document
from tests.support.command_lines import KNOWN, LINES, words_of


def principal(*scopes: TokenScope, keys: tuple[bytes, ...] = (b"race:*",)) -> Principal:
    return Principal("id", "gate", frozenset(scopes), keys)


def denied(who: Principal, scope: TokenScope, command: c.Command) -> StreamError:
    with pytest.raises(StreamError) as refusal:
        allowed(who, scope, command)
    assert refusal.value.code is ErrorCode.NOPERM
    return refusal.value


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_command_concerns_the_keys_that_its_line_names(name: str) -> None:
    words = [word.encode() for word in words_of(name)]
    command = parse_request(words).command
    if command is not None:
        assert [*keys_of(command)] == [word for word in words if word.startswith(b"race:")]


def test_a_list_of_keys_is_a_command_that_can_be_narrowed() -> None:
    lists = {kind for kind, row in DESCRIPTORS.items() if row.reach is Reach.LIST}
    assert lists == set(c.Listing.__subclasses__())


def test_a_command_of_the_server_itself_is_refused() -> None:
    denied(principal("admin", keys=(b"*",)), "admin", c.ExpireIdempotencyKeys())


def test_there_is_a_line_for_every_command_of_the_grammar() -> None:
    assert set(LINES) == KNOWN


def test_every_operation_of_the_document_says_what_it_needs() -> None:
    operations = the_document().operations
    for name, operation in operations.items():
        if need_of(name) == "open":
            assert operation.spec["security"] == []
        else:
            assert operation.spec["x-required-scope"] == need_of(name)


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


def test_a_redrive_needs_the_scope_on_the_dead_letter_stream_that_it_names() -> None:
    who = principal("admin")
    allowed(who, "admin", c.Redrive(b"race:france", b"g", 10, dead_letter_stream=b"race:dead"))
    refused = c.Redrive(b"race:france", b"g", 10, dead_letter_stream=b"boat:dead")
    assert denied(who, "admin", refused).details["key"] == "boat:dead"


def test_a_dead_letter_stream_needs_the_scope_as_well_and_its_removal_does_not() -> None:
    who = principal("admin")
    allowed(who, "admin", c.ConfigureGroup(b"race:france", b"g", 5, b"race:dead"))
    allowed(who, "admin", c.ConfigureGroup(b"race:france", b"g", None, None))
    denied(who, "admin", c.ConfigureGroup(b"race:france", b"g", 5, b"salaries"))


def test_no_scope_implies_another() -> None:
    command = c.StreamLength(b"race:france")
    others: tuple[TokenScope, ...] = ("append", "consume", "admin")
    for scope in others:
        denied(principal(scope), "read", command)
    assert allowed(principal("read"), "read", command) is command


def test_what_concerns_all_keys_needs_the_pattern_for_all() -> None:
    for command in (c.Flush(), c.SetConfig(()), c.GetConfig(()), c.ServerInfo()):
        denied(principal("admin", "read", keys=(b"?*", b"race:*")), "admin", command)
        assert allowed(principal("admin", keys=(b"race:*", b"*")), "admin", command) is command


def test_a_list_is_narrowed_to_the_patterns_and_open_to_readers_and_administrators() -> None:
    listing: tuple[TokenScope, ...] = ("read", "admin")
    for scope in listing:
        narrowed = allowed(principal(scope), "admin", c.MatchKeys(b"*"))
        assert narrowed == c.MatchKeys(b"*", visible=(b"race:*",))
        everything = allowed(principal(scope, keys=(b"*",)), "admin", c.MatchKeys(b"*"))
        assert everything == c.MatchKeys(b"*")
    others: tuple[TokenScope, ...] = ("append", "consume")
    for scope in others:
        denied(principal(scope), "read", c.ListStreams())


def test_who_needs_no_token_may_do_all() -> None:
    assert allowed(ANONYMOUS_LOCAL, "admin", c.Flush()) == c.Flush()


def test_a_refusal_shows_a_key_in_one_line() -> None:
    error = denied(principal("read"), "read", c.StreamLength(b"a\nb\xff"))
    assert error.details["key"] == "a b\\xff"
    assert "\n" not in error.line
