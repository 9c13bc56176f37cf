"""A second, naive evaluation of filters: three values, one entry at a time, straight from the tree.

The tests compare it with `core.filters`, which compiles conditions into functions with two values.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from random import Random
from typing import Any

from tailrace.core.filters import tree

Entry = Sequence[tuple[bytes, bytes]]

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def outcome(condition: Any, entry: Entry) -> bool | None:
    """Return the result of a condition, None if it has none, as the specification of CEL says."""
    match condition:
        case tree.Always(value):
            return bool(value)
        case tree.Has(name):
            return name in _fields(entry)
        case tree.Not(of):
            inner = outcome(of, entry)
            return None if inner is None else not inner
        case tree.All(parts) | tree.AnyOf(parts):
            return _joined(
                [outcome(part, entry) for part in parts], decides=isinstance(condition, tree.AnyOf)
            )
    return _test(condition, _fields(entry))


def _joined(results: Sequence[bool | None], *, decides: bool) -> bool | None:
    if decides in results:
        return decides
    return None if None in results else not decides


def _test(condition: Any, fields: dict[str, str]) -> bool | None:
    match condition:
        case tree.Among(of, texts):
            text = _value(of, fields)
            return None if text is None else text in list(texts)
        case tree.Affix(of, affix, at_end):
            text, part = _value(of, fields), _value(affix, fields)
            if text is None or part is None:
                return None
            return bool(text.endswith(part) if at_end else text.startswith(part))
    left, right = _value(condition.left, fields), _value(condition.right, fields)
    if left is None or right is None:
        return None
    return bool(_COMPARE[condition.operator](left, right))


def _value(value: Any, fields: dict[str, str]) -> Any:
    match value:
        case tree.Field(name):
            return fields.get(name)
        case tree.Text(text) | tree.Number(text):
            return text
        case tree.Cast(to, of):
            return _number(to, _value(of, fields))
    raise AssertionError(value)


def _number(to: str, text: str | None) -> int | float | None:
    if text is None or not text.isascii() or set(text) & set(" _\t\n") or text[-1:].isalpha():
        return None
    try:
        number: int | float = int(text) if to == "int" else float(text)
    except ValueError:
        return None
    return None if to == "int" and not -(1 << 63) <= number < 1 << 63 else number


def _fields(entry: Entry) -> dict[str, str]:
    return {_decoded(name): _decoded(value) for name, value in entry}


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


# --- random filters and entries --------------------------------------------------------------------

NAMES = (b"status", b"region", b"amount", b"odd name", b'q"\\', b"\xff\xfe", "é".encode(), b"if", b"")
VALUES = (
    *(b"failed", b"ok", b"", b"eu-1", b"eu", b"10.5", b"10", b"-3", b"1e3", b"inf", b"nan", b" 7", b"1_0"),
    *(
        b"9223372036854775807",
        b"9223372036854775808",
        b"\xff\x00",
        "é".encode(),
        b"\xc3",
        b"+5",
        b".5",
        b"5.",
    ),
)


def random_entry(random: Random) -> Entry:
    return [(random.choice(NAMES), random.choice(VALUES)) for _ in range(random.randint(1, 5))]


def random_filter(random: Random, depth: int = 3) -> str:
    kind = random.randint(0, 9) if depth else random.randint(4, 9)
    if kind < 2:
        sign = random.choice(("&&", "||"))
        parts = [random_filter(random, depth - 1) for _ in range(random.randint(2, 4))]
        return "(" + f" {sign} ".join(parts) + ")"
    if kind < 4:
        return f"!({random_filter(random, depth - 1)})"
    return _random_test(random, kind)


def _random_test(random: Random, kind: int) -> str:
    sign = random.choice(("==", "!=", "<", "<=", ">", ">="))
    if kind == 4:
        return random.choice((f"has({_random_field(random)})", "true", "false"))
    if kind == 5:
        texts = ", ".join(_literal(random.choice(VALUES)) for _ in range(random.randint(0, 3)))
        return f"{_random_text(random)} in [{texts}]"
    if kind == 6:
        method = random.choice(("startsWith", "endsWith"))
        return f"{_random_text(random)}.{method}({_random_text(random)})"
    if kind == 7:
        return f"{_random_text(random)} {sign} {_random_text(random)}"
    return f"{_random_number(random)} {sign} {_random_number(random)}"


def _random_number(random: Random) -> str:
    if random.random() < 0.4:
        return random.choice(("10.5", "10", "-3", "1e3", "9223372036854775807", "0"))
    return f"{random.choice(('int', 'double'))}({_random_text(random)})"


def _random_text(random: Random) -> str:
    return _random_field(random) if random.random() < 0.7 else _literal(random.choice(VALUES))


def _random_field(random: Random) -> str:
    name = random.choice(NAMES)
    if name.isalpha() and random.random() < 0.5:
        return f"fields.{name.decode()}"
    return f"fields[{_literal(name)}]"


def _literal(text: bytes) -> str:
    return 'b"' + "".join(f"\\x{octet:02x}" for octet in text) + '"'
