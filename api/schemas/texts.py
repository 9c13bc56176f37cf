"""Error texts for bodies that pydantic refuses: the place of the mistake, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from tailrace.api.schemas.base import I64_MAX


class Place(NamedTuple):
    """A place in a body.

    `steps` are member names and indexes from the whole body on. `annotation` is the declared type of the
    value at this place, and `model` the model of the object around it, if there is one. `is_branch` is true
    if the error belongs to one branch of a union.
    """

    steps: tuple[str | int, ...]
    annotation: Any
    model: type[BaseModel] | None
    is_branch: bool


def place_of(location: Sequence[str | int], annotation: Any) -> Place:
    """Return the place of an error: pydantic's `location` without the names of union branches."""
    steps: list[str | int] = []
    model: type[BaseModel] | None = None
    is_branch = False
    for step in location:
        options = options_of(annotation)
        is_branch = len(options) > 1
        if is_branch:
            annotation = next((each for each in options if _branch_name(each) == step), options[0])
            continue
        steps.append(step)
        model = _model(options[0])
        annotation = _inside(options[0], step)
    return Place(tuple(steps), annotation, model, is_branch)


def annotation_at(steps: Iterable[str | int], annotation: Any) -> Any:
    """Return the declared type at the end of `steps`, in a body declared as `annotation`."""
    for step in steps:
        annotation = _inside(options_of(annotation)[0], step)
    return annotation


def _inside(annotation: Any, step: str | int) -> Any:
    """Return the declared type of the member or item `step` of `annotation`."""
    model = _model(annotation)
    if model is not None:
        return _fields(model).get(str(step), Any)
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and isinstance(step, int):
        return arguments[min(step, len(arguments) - 1)]
    return arguments[-1] if arguments else Any


def options_of(annotation: Any) -> list[Any]:
    """Return the branches of a union without None, or the one type if `annotation` is not a union."""
    if isinstance(annotation, FieldInfo):
        return options_of(annotation.annotation)
    if get_origin(annotation) is Annotated:
        return options_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        return [option for part in parts for option in options_of(part)]
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        return options_of(annotation.model_fields["root"].annotation)
    return [annotation]


def _branch_name(annotation: Any) -> str:
    return str(getattr(annotation, "__name__", annotation))


def _model(annotation: Any) -> type[BaseModel] | None:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None


@cache
def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def member_names(model: type[BaseModel]) -> list[str]:
    """Return the names of a model's members, as bodies write them."""
    return list(_fields(model))


def bounds_of(annotation: Any) -> dict[str, int]:
    """Return the bounds of a number, `ge` and `le`, as far as `annotation` or its parts declare them."""
    found: dict[str, int] = {}
    if isinstance(annotation, FieldInfo):
        found |= bounds_of(annotation.annotation)
        metadata: Sequence[Any] = annotation.metadata
    else:
        for part in get_args(annotation):
            found |= bounds_of(part)
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


def kind_of(annotation: Any) -> str:
    """Return the JSON type of an annotation with its article, such as `a string`."""
    if annotation in _KINDS:
        return _KINDS[annotation]
    if get_origin(annotation) is list:
        return "an array"
    return "an object"


SHOWN_LENGTH_MAX: Final = 40
"""How many characters of a wrong value an error text shows."""

COMPARED_LENGTH_MAX: Final = 60
"""The longest unknown name, in characters, for which a similar known name is looked up. The cost grows with
the length, and known names are shorter."""

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
"""Names from other programs, and the name of the same thing here."""


class Mistake(NamedTuple):
    """One mistake: its place in the body (member names and indexes), and the error text."""

    place: tuple[str | int, ...]
    text: str


def mistakes(found: Iterable[Mapping[str, Any]], annotation: Any) -> list[Mistake]:
    """Return the mistakes that pydantic found in a body declared as `annotation`.

    The errors of all branches of a union become one mistake. Cost: linear in the number of errors.
    """
    placed = [(place_of(item["loc"], annotation), item) for item in found]
    deepest = {place.steps for place, _ in placed if not place.is_branch}
    texts: dict[tuple[str | int, ...], Mistake] = {}
    for place, item in placed:
        if not place.is_branch:
            texts.setdefault(place.steps, Mistake(place.steps, _text(item, place)))
        elif not any(steps[: len(place.steps)] == place.steps for steps in deepest):
            kinds = [kind_of(each) for each in options_of(annotation_at(place.steps, annotation))]
            text = f"must be {any_of(kinds)}, not {shown(item['input'])}"
            texts.setdefault(place.steps, Mistake(place.steps, text))
    return list(texts.values())


def parameter_text(item: Mapping[str, Any], annotation: Any) -> str:
    """Return the error text of one parameter that is declared as `annotation`."""
    name = str(item["loc"][-1] if isinstance(item["loc"][-1], str) else item["loc"][1])
    if item["type"] == "missing":
        return "a required parameter is missing"
    return _text(item, Place((name,), annotation, None, is_branch=False))


def suggestion(given: str, known: Sequence[str]) -> str:
    """Suggest a replacement for the unknown name `given`: the closest of `known`, or else all of them."""
    meant = _OTHER_WORDS.get(given[:COMPARED_LENGTH_MAX].lower())
    if meant is None or meant not in known:
        meant = _closest(given, known)
    if meant is not None:
        return f"did you mean `{meant}`?"
    return f"allowed: {', '.join(f'`{name}`' for name in known)}" if known else "none is allowed"


def _closest(given: str, known: Sequence[str]) -> str | None:
    if len(given) > COMPARED_LENGTH_MAX:
        return None
    return next(iter(get_close_matches(given, known, 1, _BEST_FIT)), None)


def shown(value: object) -> str:
    """Return a wrong value as error texts show it, shortened to `SHOWN_LENGTH_MAX` characters."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, Mapping | BaseModel):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    if not isinstance(value, str | bytes | int | float):
        return "a MessagePack extension"
    # One character more than is shown, because a value can have megabytes.
    text = repr(value[: SHOWN_LENGTH_MAX + 1]) if isinstance(value, str | bytes) else f"the number {value}"
    return text if len(text) <= SHOWN_LENGTH_MAX else f"{text[:SHOWN_LENGTH_MAX]}..."


def any_of(kinds: Iterable[str]) -> str:
    """Join the alternatives, without duplicates: `a, b or c`."""
    *first, last = dict.fromkeys(kinds)
    return f"{', '.join(first)} or {last}" if first else last


# --- sentences -------------------------------------------------------------------------------------


def _text(item: Mapping[str, Any], place: Place) -> str:
    write = _TEXTS.get(item["type"])
    if write is None:
        return f"does not match the schema: {shown(item['input'])}"
    return write(item, place)


def _must_be(kind: str, item: Mapping[str, Any], _place: Place) -> str:
    return f"must be {kind}, not {shown(item['input'])}"


def _string(item: Mapping[str, Any], _place: Place) -> str:
    value = item["input"]
    is_plain = isinstance(value, bool | int | float)
    text = f"must be a string, not {shown(value)}"
    return f'{text}; write it in quotes: "{str(value).lower()}"' if is_plain else text


def _number(item: Mapping[str, Any], place: Place) -> str:
    return f"must be {_number_kind(place)}, not {shown(item['input'])}"


def _number_kind(place: Place) -> str:
    bounds = bounds_of(place.annotation)
    least, most = bounds.get("ge"), bounds.get("le")
    if least is None:
        allowed = ""
    elif most is None or most == I64_MAX:
        allowed = f" of at least {least}"
    else:
        allowed = f" from {least} to {most}"
    name = str(place.steps[-1]) if place.steps else ""
    unit = next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")
    kind = "a number" if float in options_of(place.annotation) else "an integer"
    return f"{kind}{allowed}{unit and f' ({unit.strip()})'}"


def _literal(item: Mapping[str, Any], _place: Place) -> str:
    known = re.findall(r"'([^']*)'", item["ctx"]["expected"])
    return f"must be {any_of(f'`{each}`' for each in known)}, not {shown(item['input'])}"


def _too_short(item: Mapping[str, Any], _place: Place) -> str:
    least, actual = item["ctx"]["min_length"], item["ctx"]["actual_length"]
    unit = "member" if item["ctx"]["field_type"] == "Dictionary" else "item"
    return f"must have at least {least} {unit}{'s' * (least != 1)}, not {actual}"


def _too_long(item: Mapping[str, Any], _place: Place) -> str:
    return f"has too many items; at most {item['ctx']['max_length']} are allowed"


def _missing(_item: Mapping[str, Any], _place: Place) -> str:
    return "a required member is missing"


def _unknown(_item: Mapping[str, Any], place: Place) -> str:
    names = [] if place.model is None else member_names(place.model)
    return f"unknown member; {suggestion(str(place.steps[-1]), names)}"


def _own(item: Mapping[str, Any], _place: Place) -> str:
    return str(item["ctx"]["error"])


_OBJECT: Final = partial(_must_be, "an object")

_TEXTS: Final[Mapping[str, Callable[[Mapping[str, Any], Place], str]]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "value_error": _own,
    "literal_error": _literal,
    "too_short": _too_short,
    "too_long": _too_long,
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), _string),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float", "float_type"), _number),
    **dict.fromkeys(("greater_than_equal", "less_than_equal"), _number),
    **dict.fromkeys(("bool_type", "bool_parsing"), partial(_must_be, "true or false")),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
    "list_type": partial(_must_be, "an array"),
}
