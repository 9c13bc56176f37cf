"""The place of a mistake in a body: from pydantic's error location to member names and declared types.

It reads annotations and never values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo


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
