from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_side_effects import ProblemSideEffects, check_problem_side_effects
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.error_item import ErrorItem


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error. `code` is stable; `detail` is for people and may be reworded."""

    type_: str
    """ URN of the kind of problem. """
    title: str
    """ The kind in words. """
    status: int
    """ The HTTP status. """
    detail: str
    """ What was wrong with this request. """
    code: str
    """ Stable code to branch on. """
    retryable: bool
    """ Whether the same request can succeed later, unchanged. """
    side_effects: ProblemSideEffects
    """ `none`: nothing was changed. `unknown`: the server cannot tell. """
    request_id: None | str
    """ The request's id, as in `X-Request-Id` and in the server's log. """
    errors: list[ErrorItem] | Unset = UNSET
    """ Each thing that is wrong with the body or the parameters. """
    last_id: str | Unset = UNSET
    """ The stream's last id, where going on needs it. """
    first_id: str | Unset = UNSET
    """ The stream's first id, where going on needs it. """
    given: str | Unset = UNSET
    """ The argument that was refused. """
    required_scope: str | Unset = UNSET
    """ The scope that the token lacks; with 403 `NOPERM`. """
    key: str | Unset = UNSET
    """ The key that the token's patterns do not allow under that scope. """
    error: str | Unset = UNSET
    """ The exact Redis error line; only from the command endpoint. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        code = self.code

        retryable = self.retryable

        side_effects: str = self.side_effects

        request_id: None | str
        request_id = self.request_id

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        last_id = self.last_id

        first_id = self.first_id

        given = self.given

        required_scope = self.required_scope

        key = self.key

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "code": code,
                "retryable": retryable,
                "side_effects": side_effects,
                "request_id": request_id,
            }
        )
        if errors is not UNSET:
            field_dict["errors"] = errors
        if last_id is not UNSET:
            field_dict["last_id"] = last_id
        if first_id is not UNSET:
            field_dict["first_id"] = first_id
        if given is not UNSET:
            field_dict["given"] = given
        if required_scope is not UNSET:
            field_dict["required_scope"] = required_scope
        if key is not UNSET:
            field_dict["key"] = key
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.error_item import ErrorItem  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        code = d.pop("code")

        retryable = d.pop("retryable")

        side_effects = check_problem_side_effects(d.pop("side_effects"))

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        _errors = d.pop("errors", UNSET)
        errors: list[ErrorItem] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = ErrorItem.from_dict(errors_item_data)

                errors.append(errors_item)

        last_id = d.pop("last_id", UNSET)

        first_id = d.pop("first_id", UNSET)

        given = d.pop("given", UNSET)

        required_scope = d.pop("required_scope", UNSET)

        key = d.pop("key", UNSET)

        error = d.pop("error", UNSET)

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            code=code,
            retryable=retryable,
            side_effects=side_effects,
            request_id=request_id,
            errors=errors,
            last_id=last_id,
            first_id=first_id,
            given=given,
            required_scope=required_scope,
            key=key,
            error=error,
        )

        problem.additional_properties = d
        return problem

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
