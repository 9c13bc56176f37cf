"""What is wrong with a body or a parameter, in sentences: one table from the kinds of pydantic's errors.

It owns the words, the suggestions for names that are not known, and the way from an error's location to a
place in the body. It never decides what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from tailrace.api.schemas.base import I64_MAX

SHOWN_LENGTH_MAX: Final = 40
"""Characters of an offending value that a sentence shows."""

_UNITS: Final = {"_ms": " milliseconds", "_s": " seconds", "_bytes": " bytes"}
_BEST_FIT: Final = 0.7
_OTHER_WORDS: Final = {
    "block": "wait_ms",
    "timeout": "wait_ms",
    "limit": "count",
    "from": "start",
    "since": "after",
    "to": "end",
    "mkstream": "create_stream",
    "message": "fields",
    "values": "fields",
}
"""Words that other programs have for the same thing."""


class Wrong(NamedTuple):
    """One thing that is wrong: where in the body, and the sentence."""

    place: tuple[str | int, ...]
    text: str


class _Place(NamedTuple):
    """A location without the names of a union's branches; `annotation`: what belongs there; `model`: the
    object around it."""

    steps: tuple[str | int, ...]
    annotation: Any
    model: type[BaseModel] | None
    is_branch: bool


def wrongs(found: Iterable[Mapping[str, Any]], annotation: Any) -> list[Wrong]:
    """The errors of one validation against `annotation`; those of a union's branches become one."""
    placed = [(_place(item["loc"], annotation), item) for item in found]
    deepest = {place.steps for place, _ in placed if not place.is_branch}
    told: dict[tuple[str | int, ...], Wrong] = {}
    for place, item in placed:
        if not place.is_branch:
            told.setdefault(place.steps, Wrong(place.steps, _text(item, place)))
        elif not any(steps[: len(place.steps)] == place.steps for steps in deepest):
            kinds = [_kind(each) for each in _options(_at(place.steps, annotation))]
            text = f"must be {any_of(kinds)}, not {shown(item['input'])}"
            told.setdefault(place.steps, Wrong(place.steps, text))
    return list(told.values())


def parameter_text(item: Mapping[str, Any], annotation: Any) -> str:
    """What is wrong with one parameter, which is declared as `annotation`."""
    name = str(item["loc"][-1] if isinstance(item["loc"][-1], str) else item["loc"][1])
    if item["type"] == "missing":
        return "a required parameter is missing"
    return _text(item, _Place((name,), annotation, None, is_branch=False))


def suggestion(given: str, known: Sequence[str]) -> str:
    """What a name that is not known should be, or all that it can be."""
    meant = _OTHER_WORDS.get(given.lower())
    close = [meant] if meant in known else get_close_matches(given, known, 1, _BEST_FIT)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"allowed: {', '.join(f'`{name}`' for name in known)}" if known else "none is allowed"


def shown(value: object) -> str:
    """A value that does not fit, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, Mapping | BaseModel):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    text = repr(value) if isinstance(value, str | bytes) else f"the number {value}"
    return text if len(text) <= SHOWN_LENGTH_MAX else f"{text[:SHOWN_LENGTH_MAX]}..."


def any_of(kinds: Iterable[str]) -> str:
    """``a, b or c``."""
    *first, last = dict.fromkeys(kinds)
    return f"{', '.join(first)} or {last}" if first else last


# --- sentences -------------------------------------------------------------------------------------


def _text(item: Mapping[str, Any], place: _Place) -> str:
    write = _TEXTS.get(item["type"])
    if write is None:
        return f"does not fit the schema: {shown(item['input'])}"
    return write(item, place)


def _must_be(kind: str, item: Mapping[str, Any], _place: _Place) -> str:
    return f"must be {kind}, not {shown(item['input'])}"


def _string(item: Mapping[str, Any], _place: _Place) -> str:
    value = item["input"]
    is_plain = isinstance(value, bool | int | float)
    text = f"must be a string, not {shown(value)}"
    return f'{text}; write it in quotes: "{str(value).lower()}"' if is_plain else text


def _integer(item: Mapping[str, Any], place: _Place) -> str:
    return f"must be {_integer_kind(place)}, not {shown(item['input'])}"


def _integer_kind(place: _Place) -> str:
    bounds = _bounds(place.annotation)
    least, most = bounds.get("ge"), bounds.get("le")
    if least is None:
        allowed = ""
    elif most is None or most == I64_MAX:
        allowed = f" of at least {least}"
    else:
        allowed = f" from {least} to {most}"
    name = str(place.steps[-1]) if place.steps else ""
    unit = next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")
    return f"an integer{allowed}{unit and f' ({unit.strip()})'}"


def _literal(item: Mapping[str, Any], _place: _Place) -> str:
    known = re.findall(r"'([^']*)'", item["ctx"]["expected"])
    return f"must be {any_of(f'`{each}`' for each in known)}, not {shown(item['input'])}"


def _too_short(item: Mapping[str, Any], _place: _Place) -> str:
    least, actual = item["ctx"]["min_length"], item["ctx"]["actual_length"]
    unit = "member" if item["ctx"]["field_type"] == "Dictionary" else "item"
    return f"must have at least {least} {unit}{'s' * (least != 1)}, and has {actual}"


def _too_long(item: Mapping[str, Any], _place: _Place) -> str:
    return f"has too many items; at most {item['ctx']['max_length']} are allowed"


def _missing(_item: Mapping[str, Any], _place: _Place) -> str:
    return "a required member is missing"


def _unknown(_item: Mapping[str, Any], place: _Place) -> str:
    names = [] if place.model is None else _member_names(place.model)
    return f"unknown member; {suggestion(str(place.steps[-1]), names)}"


def _own(item: Mapping[str, Any], _place: _Place) -> str:
    return str(item["ctx"]["error"])


_OBJECT: Final = partial(_must_be, "an object")

_TEXTS: Final[Mapping[str, Callable[[Mapping[str, Any], _Place], str]]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "value_error": _own,
    "literal_error": _literal,
    "too_short": _too_short,
    "too_long": _too_long,
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), _string),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float", "greater_than_equal"), _integer
    ),
    "less_than_equal": _integer,
    **dict.fromkeys(("bool_type", "bool_parsing"), partial(_must_be, "true or false")),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
    "list_type": partial(_must_be, "an array"),
}

# --- places ----------------------------------------------------------------------------------------


def _place(location: Sequence[str | int], annotation: Any) -> _Place:
    steps: list[str | int] = []
    model: type[BaseModel] | None = None
    is_branch = False
    for step in location:
        options = _options(annotation)
        is_branch = len(options) > 1
        if is_branch:
            annotation = next((each for each in options if _branch_name(each) == step), options[0])
            continue
        steps.append(step)
        model = _model(options[0])
        annotation = _inside(options[0], step)
    return _Place(tuple(steps), annotation, model, is_branch)


def _at(steps: Iterable[str | int], annotation: Any) -> Any:
    for step in steps:
        annotation = _inside(_options(annotation)[0], step)
    return annotation


def _inside(annotation: Any, step: str | int) -> Any:
    """What belongs to a member or an item of `annotation`."""
    model = _model(annotation)
    if model is not None:
        return _fields(model).get(str(step), Any)
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and isinstance(step, int):
        return arguments[min(step, len(arguments) - 1)]
    return arguments[-1] if arguments else Any


def _options(annotation: Any) -> list[Any]:
    """The branches of a union; one where it is none. None does not count: it makes no branch."""
    if isinstance(annotation, FieldInfo):
        return _options(annotation.annotation)
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        return [option for part in parts for option in _options(part)]
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        return _options(annotation.model_fields["root"].annotation)
    return [annotation]


def _branch_name(annotation: Any) -> str:
    return str(getattr(annotation, "__name__", annotation))


def _model(annotation: Any) -> type[BaseModel] | None:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _member_names(model: type[BaseModel]) -> list[str]:
    return list(_fields(model))


def _bounds(annotation: Any) -> dict[str, int]:
    """`ge` and `le`, wherever the declaration has them."""
    found: dict[str, int] = {}
    if isinstance(annotation, FieldInfo):
        found |= _bounds(annotation.annotation)
        metadata: Sequence[Any] = annotation.metadata
    else:
        for part in get_args(annotation):
            found |= _bounds(part)
        metadata = getattr(annotation, "__metadata__", ())
    for each in metadata:
        bounds = each.metadata if isinstance(each, FieldInfo) else [each]
        for bound in bounds:
            found |= {name: getattr(bound, name) for name in ("ge", "le") if hasattr(bound, name)}
    return found


_KINDS: Final[Mapping[Any, str]] = {
    str: "a string",
    bytes: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
}


def _kind(annotation: Any) -> str:
    if annotation in _KINDS:
        return _KINDS[annotation]
    if get_origin(annotation) is list:
        return "an array"
    return "an object"
