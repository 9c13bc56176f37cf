"""Each command and each operation has every part that "Add a command" in CONTRIBUTING.md lists.

A failure names the step that is missing, and what lacks it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from types import ModuleType
from typing import Any, Final

import pytest

from bench.largest_cases import CASES, CHEAP
from tailrace.api.problems.examples import EXAMPLES
from tailrace.api.problems.help import HELP
from tailrace.api.problems.table import KINDS as PROBLEM_KINDS
from tailrace.api.websocket.requests import REQUESTS
from tailrace.core import commands, effects
from tailrace.core import grammar as grammar_package
from tailrace.core import handlers as handlers_package
from tailrace.core.command_table import ACCESS, DESCRIPTORS, SYNTAXES, Reach, spelled
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar.request import literal
from tailrace.core.parser import parse_request
from tailrace.core.storage.records import KINDS as RECORD_KINDS
from tests.differential import key_sequences, later_sequences, sequences
from tests.differential.generator import Generator
from tests.differential.later_generator import LaterGenerator
from tests.support.access_table import PAGE, SOCKET_SCOPES, with_table
from tests.support.api_client import the_document
from tests.support.command_lines import LINES, words_of
from tests.support.pages import ROOT, prose_of, text_of
from tests.support.redis_like import R

WALK_THROUGH: Final = text_of("CONTRIBUTING.md").partition("## Add a command\n")[2].partition("\n## ")[0]

WITHOUT_A_COMPARISON: Final = {
    *("flushdb", "flushall"),  # they would end every program
    *("time", "info"),  # about the server itself
    "scan",  # its cursors are the server's own
    *("xgroup|help", "xinfo|help", "config|help"),  # texts of Tailrace
}
WITH_AN_OPTION: Final = {"schedule_entries"}
"""Commands that an operation with another name runs: `xadd` and `xadd_batch` with a delay."""

TAILS: Final = {"tail", "tail_streams"}
"""They send a page at a time, as `xread` does."""


def require(step: str, missing: Iterable[str]) -> None:
    """Fail with the name of the step, unless nothing lacks it."""
    names = sorted(missing)
    assert f"**{step}**" in WALK_THROUGH, f"'Add a command' in CONTRIBUTING.md has no step '{step}'"
    assert not names, (
        f"step '{step}' of 'Add a command' in CONTRIBUTING.md is missing for: {', '.join(names)}"
    )


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        yield import_module(module.name)


def functions_of(package: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions that modules of `package` define."""
    for module in modules_of(package):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield name, function


def second_parameter(function: Callable[..., Any]) -> str:
    """The name of its type, without its module."""
    parameters = [*inspect.signature(function).parameters.values(), None, None]
    return "" if parameters[1] is None else str(parameters[1].annotation).rpartition(".")[2]


def kinds_of(base: type[Any], module: ModuleType) -> set[type[Any]]:
    """The classes of `module` that derive from `base` and have no class below them."""
    kinds = {kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, base)}
    return {kind for kind in kinds if kind is not base and not kind.__subclasses__()}


def redis_name(name: str) -> str:
    return name.replace("|", " ").upper()


def mentions(text: str, name: str) -> bool:
    """Whether `text` has the command as words of a line, or as arguments in quotes."""
    words = redis_name(name)
    quoted = '"' + words.replace(" ", '", "') + '"'
    return quoted in text or re.search(rf"(?<![A-Z]){words}(?![A-Z])", text) is not None


def texts(*patterns: str) -> str:
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)))


# --- every command -----------------------------------------------------------------------------------


def test_an_error_text_spells_a_command_as_its_row_does() -> None:
    for kind, row in DESCRIPTORS.items():
        if row.redis:
            forms = {redis_name(form.name) for form in row.redis}
            assert spelled(kind) in forms, f"{spelled(kind)} is none of {sorted(forms)}"


def test_every_command_has_a_row_and_a_docstring_that_names_it() -> None:
    kinds = kinds_of(Command, commands)
    require("row", (kind.__name__ for kind in kinds - DESCRIPTORS.keys()))
    rows = [row for row in DESCRIPTORS.values() if row.redis]
    forms = [(row.command, {redis_name(each.name) for each in row.redis}) for row in rows]
    unnamed = (kind.__name__ for kind, names in forms if not any(name in str(kind.__doc__) for name in names))
    require("command", unnamed)


def test_every_command_has_a_handler() -> None:
    wrong = {
        row.name for row in DESCRIPTORS.values() if second_parameter(row.handler) != row.command.__name__
    }
    require("handler", wrong)
    names, handlers = {kind.__name__ for kind in DESCRIPTORS}, {row.handler for row in DESCRIPTORS.values()}
    found = {name for name, each in functions_of(handlers_package) if second_parameter(each) in names}
    require("row", found - {handler.__name__ for handler in handlers})


def test_every_parser_makes_the_command_of_its_row() -> None:
    functions = functions_of(grammar_package)
    made_here = {each for _, each in functions if each.__annotations__["return"] == "Parsed"}
    parsers = made_here - {literal}
    require("row", (each.__name__ for each in parsers - {syntax.parse for syntax in SYNTAXES.values()}))
    for row in DESCRIPTORS.values():
        lines = {each.name: words_of(each.name) for each in row.redis if each.name in LINES}
        made = {name: parse_request([word.encode() for word in words]) for name, words in lines.items()}
        require("parser", (name for name, each in made.items() if not isinstance(each.command, row.command)))


def test_every_row_is_complete() -> None:
    operations = the_document().operations
    for row in DESCRIPTORS.values():
        own_names = {each.name.replace("|", "_") for each in row.redis} | {"xpending"} | WITH_AN_OPTION
        is_named = row.name in own_names or row.name in operations or row.reach is Reach.INTERNAL
        has_texts = all(each.summary.endswith(".") for each in row.redis)
        is_readable = row.is_read_only or row.access != "read"
        require("row", [] if is_named and has_texts and is_readable else [row.name])


def test_every_subcommand_is_in_the_help_of_its_command() -> None:
    subcommands = [name.upper().split("|") for name in SYNTAXES if "|" in name]
    missing = (f"{one} {two}" for one, two in subcommands if two not in "\n".join(R().run(one, "HELP")))
    require("help", missing)


def test_every_command_has_a_line_as_an_example() -> None:
    require("line", SYNTAXES.keys() - LINES.keys())


def test_a_read_only_command_has_no_effect() -> None:
    r = R()
    r.lines("XADD race:france 1-1 a b\nXADD race:usa 1-1 a b\nXGROUP CREATE race:france judges 0")
    for name, line in LINES.items():
        command = parse_request([word.encode() for word in line.split()]).command
        if command is not None and DESCRIPTORS[type(command)].is_read_only:
            require("row", [name] if Engine(r.engine.keyspace).execute(command, r.now_ms).effects else [])


def test_every_command_has_a_test_of_its_rules() -> None:
    rules = texts("tests/rules/*.py", "tests/support/redis_like.py")
    others = texts("tests/unit/test_grammar_*.py", "tests/seeds/*.py")
    is_of_streams = {name: name.startswith("x") and not name.endswith("|help") for name in SYNTAXES}
    require("rules", (name for name, own in is_of_streams.items() if own and not mentions(rules, name)))
    require(
        "rules", (name for name in SYNTAXES if not mentions(rules + others, name) and "|help" not in name)
    )


def test_every_command_is_compared_with_redis() -> None:
    fixed = "".join(
        Path(str(each.__file__)).read_text() for each in (sequences, later_sequences, key_sequences)
    )
    missing = SYNTAXES.keys() - WITHOUT_A_COMPARISON - commands_of_random_programs()
    require("comparison", (name for name in missing if not mentions(fixed, name)))


def commands_of_random_programs() -> set[str]:
    programs = [make(Random(seed)).program(60) for make in (Generator, LaterGenerator) for seed in range(60)]
    words = [
        [word.lower().decode("latin-1") for word in each[:2]] for p in programs for step in p for each in step
    ]
    return {name for each in words for name in (each[0], "|".join(each))}


def test_every_command_is_in_the_page_for_users_of_redis() -> None:
    coded = " ".join(re.findall(r"`([^`]+)`", prose_of("docs/from-redis.md")))
    require("page", (name for name in SYNTAXES if not mentions(coded, name)))


def test_every_command_is_in_the_table_of_scopes() -> None:
    page = PAGE.read_text()
    require("scopes", (name for name in ACCESS if f"`{redis_name(name)}`" not in page))
    require("scopes", [] if page == with_table(page) else [PAGE.name])


# --- commands that write -----------------------------------------------------------------------------


def test_every_effect_is_exported_applied_and_stored() -> None:
    kinds = set(effects.Effect.__subclasses__())
    require("effect", (kind.__name__ for kind in kinds if kind.__name__ not in effects.__all__))
    require("effect", (kind.__name__ for kind in kinds if "apply" not in vars(kind)))
    require("effect", (kind.__name__ for kind in kinds - set(RECORD_KINDS)))


def test_every_writing_command_is_replayed() -> None:
    programs = texts("tests/unit/test_replay.py")
    writing = {kind.__name__ for kind, row in DESCRIPTORS.items() if not row.is_read_only}
    require("replay", (name for name in writing if f"c.{name}(" not in programs))


# --- errors, routes, requests of the WebSocket --------------------------------------------------------


def test_every_error_code_has_a_problem_an_example_and_help() -> None:
    for table in (PROBLEM_KINDS, EXAMPLES, HELP):
        require("error", (code for code in ErrorCode if code not in table))


def test_every_operation_has_its_largest_request() -> None:
    require("largest", the_document().operations.keys() - CHEAP - TAILS - {case.operation for case in CASES})


def test_every_operation_is_in_the_page_for_users_of_redis() -> None:
    rows = [line for line in text_of("docs/from-redis.md").splitlines() if line.startswith("| `")]
    require(
        "page", (name for name in the_document().operations if not any(f"`{name}`" in row for row in rows))
    )


def test_every_operation_is_in_the_python_sdk_or_the_page_says_that_it_is_not() -> None:
    calls = texts("openapi/python/tailrace_client/asynchronous/*.py")
    rows = [
        line.split(" | ") for line in text_of("docs/from-redis.md").splitlines() if line.startswith("| `X")
    ]
    methods = [re.findall(r"`(?:stream|group)\.(\w+)`", row[-1]) for row in rows if len(row) == 4]
    require("SDK", (name for names in methods for name in names if f"def {name}(" not in calls))


def test_every_request_of_the_websocket_has_a_scope() -> None:
    require("WebSocket", REQUESTS.keys() ^ SOCKET_SCOPES.keys())


@pytest.mark.parametrize("step", re.findall(r"^\| \*\*(\w+)\*\*", WALK_THROUGH, re.MULTILINE))
def test_every_step_names_files_that_exist(step: str) -> None:
    row = next(line for line in WALK_THROUGH.splitlines() if line.startswith(f"| **{step}**"))
    paths = re.findall(r"`([\w./*-]+/[\w./*-]+)`", row.split(" | ")[1])
    assert all(any(ROOT.glob(path.rstrip("/"))) for path in paths), (step, paths)
