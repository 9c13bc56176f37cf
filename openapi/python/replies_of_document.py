"""Prints `tailrace_client/replies.py`, the results of the methods, from the published document.

`RESULTS` are the objects that methods return; the objects inside them follow from the document. The generator
of the operations does not make them, because its models mark what is absent with an object of their own.
"""

from __future__ import annotations

import builtins
import json
import keyword
import sys
from pathlib import Path
from textwrap import indent, wrap
from typing import Any, Final

from document_for_generator import SCHEMAS, references

RESULTS: Final = (
    "AccessReply",
    "Consumer",
    "DeleteReply",
    "Group",
    "ImportCheck",
    "Limits",
    "PendingItem",
    "PendingOverview",
    "ProducerState",
    "RedriveReply",
    "SeekPosition",
    "ServerState",
    "SlowLogPage",
    "SplitPlan",
    "StreamItem",
    "StreamPage",
    "StreamState",
    "Ticket",
)

ARGUMENTS: Final = frozenset({"Backoff"})
"""Objects that methods also take. They are written by hand."""

TAKEN: Final = frozenset({*keyword.kwlist, *dir(builtins)} - {"id"})
"""Names of Python. A member with such a name ends with `_`."""

TYPES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

WIDTH: Final = 110
INDENT: Final = "    "

HEADER: Final = '''"""The results of methods, as records with the members of the published document.

`make sdk-python` prints this module from the document; do not edit it. `record` reads the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tailrace_client.group_settings import Backoff
from tailrace_client.record import Record

__all__ = [
{}
]
'''

CLASS: Final = """

@dataclass(frozen=True, slots=True, kw_only=True)
class {}(Record):
"""


def inner(schema: object) -> list[str]:
    """Return the names of the schemas that a schema refers to."""
    return [each.removeprefix(SCHEMAS) for each in references(schema)]


def reached(schemas: dict[str, Any]) -> list[str]:
    """Return the names of the results and of the objects inside them, sorted."""
    found: set[str] = set(ARGUMENTS)
    waiting = list(RESULTS)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += inner(schemas[name])
    return sorted(found - ARGUMENTS)


def type_of(schema: dict[str, Any]) -> str:
    """Return the type of a value that is not null."""
    if "$ref" in schema or "allOf" in schema:
        return inner(schema)[0]
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(each) for each in schema['enum'])}]"
    if schema["type"] == "array":
        return f"list[{type_of(schema['items'])}]"
    if schema["type"] == "object":
        return f"dict[str, {type_of(schema['additionalProperties'])}]"
    return TYPES[schema["type"]]


def member(name: str, schema: dict[str, Any], *, is_required: bool) -> str:
    """Return the lines of one member."""
    attribute = f"{name}_" if name in TAKEN else name
    is_always_there = is_required and not schema.get("nullable", False)
    type_ = type_of(schema) if is_always_there else f"{type_of(schema)} | None = None"
    return f"{attribute}: {type_}\n{text_of(schema['description'])}"


def text_of(description: str) -> str:
    """Return a docstring."""
    prefix = "r" if "\\" in description else ""
    lines = wrap(f'{prefix}"""{" ".join(description.split())}"""', WIDTH - len(INDENT))
    return "\n".join(lines) + "\n"


def record(name: str, schema: dict[str, Any]) -> str:
    """Return the class of one object."""
    required = schema.get("required", ())
    members = [
        member(name, each, is_required=name in required) for name, each in schema["properties"].items()
    ]
    return CLASS.format(name) + indent("\n".join([text_of(schema["description"]), *members]), INDENT)


def module(schemas: dict[str, Any]) -> str:
    """Return the whole module."""
    names = reached(schemas)
    return HEADER.format("\n".join(f'    "{name}",' for name in names)) + "".join(
        record(name, schemas[name]) for name in names
    )


if __name__ == "__main__":
    document = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout.write(module(document["components"]["schemas"]))
