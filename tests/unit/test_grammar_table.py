from __future__ import annotations

import pytest

from tailrace.core.command_table import SYNTAXES, keys_of
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX
from tests.support.grammar import refusal, refused, request

FULL_NAMES = [(name, syntax.arity) for name, syntax in SYNTAXES.items()]
CONTAINERS = sorted({name.partition("|")[0] for name in SYNTAXES if "|" in name})


@pytest.mark.parametrize(
    ("name", "arity"), [row for row in FULL_NAMES if abs(row[1]) > row[0].count("|") + 1]
)
def test_a_command_with_too_few_words_is_refused_under_its_full_name(name: str, arity: int) -> None:
    words = name.split("|")
    words += ["1"] * (abs(arity) - len(words) - 1)
    assert refusal(" ".join(words)) == f"ERR wrong number of arguments for '{name}' command"


@pytest.mark.parametrize(("name", "arity"), [row for row in FULL_NAMES if row[1] > 0])
def test_a_command_of_fixed_arity_with_too_many_words_is_refused(name: str, arity: int) -> None:
    words = name.split("|")
    words += ["1"] * (arity - len(words) + 1)
    error = refused(*(word.encode() for word in words))
    assert error.line == f"ERR wrong number of arguments for '{name}' command"
    assert error.code is ErrorCode.WRONG_ARITY


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_command_alone_is_an_arity_error(container: str) -> None:
    assert refusal(container) == f"ERR wrong number of arguments for '{container}' command"


def test_names_are_read_in_any_case_and_given_in_lower_case() -> None:
    assert request("xLeN k").name == "xlen"
    assert request("XGroup Destroy k g").name == "xgroup|destroy"


@pytest.mark.parametrize("name", ["MULTI", "EXEC", "DISCARD", "WATCH", "GET", "MOVE", "xgroup|help"])
def test_what_is_no_command_here_is_unknown(name: str) -> None:
    assert refusal(name) == f"ERR unknown command '{name}'"


def test_an_unknown_command_is_shown_with_its_arguments() -> None:
    error = refused(b"foo", b"a", b"b")
    assert error.code is ErrorCode.UNKNOWN_COMMAND
    assert error.line == "ERR unknown command 'foo', with args beginning with: 'a' 'b' "


def test_an_empty_request_is_an_unknown_command() -> None:
    line = "ERR unknown command ''"
    assert refused().line == line
    assert refused(b"").line == line


def test_an_unknown_command_is_quoted_on_one_line() -> None:
    line = "ERR unknown command 'fo  o', with args beginning with: 'a ' "
    assert refused(b"fo\r\no", b"a\n").line == line


def test_an_unknown_command_that_is_not_utf8_is_escaped() -> None:
    assert refused(b"fo\xff").line == "ERR unknown command 'fo\\xff'"


def test_no_more_than_128_bytes_of_an_unknown_command_and_of_its_arguments_are_shown() -> None:
    line = f"ERR unknown command '{'b' * 128}', with args beginning with: 'a'b' '{'a' * 122}' "
    assert refused(b"b" * 200, b"a'b", b"a" * 200, b"b").line == line


@pytest.mark.parametrize("container", ["XGROUP", "XINFO", "CONFIG"])
def test_an_unknown_subcommand_is_refused_before_its_arguments_are_counted(container: str) -> None:
    assert refusal(f"{container} Foo") == f"ERR unknown subcommand 'Foo'. Try {container} HELP."
    assert refusal(f"{container} Foo a b c d") == f"ERR unknown subcommand 'Foo'. Try {container} HELP."


def test_no_more_than_128_bytes_of_an_unknown_subcommand_are_shown() -> None:
    assert refused(b"XGROUP", b"x" * 200).line == f"ERR unknown subcommand '{'x' * 128}'. Try XGROUP HELP."


def test_a_request_has_a_bounded_number_of_words() -> None:
    error = refused(b"DEL", *[b"k"] * COMMAND_ARGUMENTS_MAX)
    assert error.code is ErrorCode.LIMIT_EXCEEDED
    assert error.line == f"ERR a command may have {COMMAND_ARGUMENTS_MAX} words at most"
    fields = [b"f"] * (COMMAND_ARGUMENTS_MAX - 4)
    error = refused(b"XADD", b"k", b"*", *fields, b"v")
    assert error.line != f"ERR a command may have {COMMAND_ARGUMENTS_MAX} words at most"


@pytest.mark.parametrize(
    ("line", "access", "keys"),
    [
        ("XADD k * f v", "append", (b"k",)),
        ("XTRIM k MAXLEN 1", "admin", (b"k",)),
        ("XDEL k 1", "admin", (b"k",)),
        ("XDELEX k IDS 1 1", "admin", (b"k",)),
        ("XSETID k 1", "admin", (b"k",)),
        ("XCFGSET k IDMP-MAXSIZE 1", "admin", (b"k",)),
        ("XLEN k", "read", (b"k",)),
        ("XRANGE k - +", "read", (b"k",)),
        ("XREVRANGE k + -", "read", (b"k",)),
        ("XREAD STREAMS k l 0 0", "read", (b"k", b"l")),
        ("XREADGROUP GROUP g c STREAMS k l > >", "consume", (b"k", b"l")),
        ("XACK k g 1", "consume", (b"k",)),
        ("XACKDEL k g IDS 1 1", "consume", (b"k",)),
        ("XNACK k g FAIL IDS 1 1", "consume", (b"k",)),
        ("XCLAIM k g c 0 1", "consume", (b"k",)),
        ("XAUTOCLAIM k g c 0 0", "consume", (b"k",)),
        ("XPENDING k g", "read", (b"k",)),
        ("XPENDING k g - + 1", "read", (b"k",)),
        ("XGROUP CREATE k g 0", "admin", (b"k",)),
        ("XGROUP SETID k g 0", "admin", (b"k",)),
        ("XGROUP DESTROY k g", "admin", (b"k",)),
        ("XGROUP CREATECONSUMER k g c", "consume", (b"k",)),
        ("XGROUP DELCONSUMER k g c", "admin", (b"k",)),
        ("XGROUP HELP", "read", ()),
        ("XINFO STREAM k", "read", (b"k",)),
        ("XINFO STREAM k FULL", "read", (b"k",)),
        ("XINFO GROUPS k", "read", (b"k",)),
        ("XINFO CONSUMERS k g", "read", (b"k",)),
        ("DEL k l", "admin", (b"k", b"l")),
        ("EXISTS k l", "read", (b"k", b"l")),
        ("TYPE k", "read", (b"k",)),
        ("RENAME k l", "admin", (b"k", b"l")),
        ("COPY k l", "admin", (b"k", b"l")),
        ("XIDMPRECORD k p i 1-1", "admin", (b"k",)),
        ("DBSIZE", "admin", ()),
        ("KEYS *", "admin", ()),
        ("SCAN 0", "admin", ()),
        ("FLUSHALL", "admin", ()),
        ("CONFIG GET *", "admin", ()),
        ("CONFIG SET stream-idmp-maxsize 1", "admin", ()),
        ("PING", "read", ()),
        ("ECHO a", "read", ()),
        ("TIME", "read", ()),
        ("INFO", "read", ()),
    ],
)
def test_a_request_says_which_access_it_needs_and_its_command_names_the_keys(
    line: str, access: str, keys: tuple[bytes, ...]
) -> None:
    parsed = request(line)
    named = () if parsed.command is None else tuple(keys_of(parsed.command))
    assert (parsed.access, named) == (access, keys)


@pytest.mark.parametrize("line", ["XLEN k", "XTRIM k MAXLEN 1", "XDEL k 1", "XGROUP DELCONSUMER k g c"])
def test_a_count_of_what_does_not_exist_is_zero(line: str) -> None:
    assert request(line).to_resp(None) == 0
