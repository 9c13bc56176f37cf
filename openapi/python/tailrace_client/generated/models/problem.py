from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_encoding import ProblemEncoding, check_problem_encoding
from ..models.problem_missing import ProblemMissing, check_problem_missing
from ..models.problem_side_effects import ProblemSideEffects, check_problem_side_effects
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.error_item import ErrorItem


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error. `code` is stable; `detail` is for people and may be reworded."""

    type_: str
    """ The kind of problem, as the path of the page on this server that explains it. """
    title: str
    """ The kind of problem, in words. """
    status: int
    """ The HTTP status. """
    detail: str
    """ What is wrong with this request. """
    code: str
    """ The stable code of the problem, for programs to compare. """
    retryable: bool
    """ True if the same request can succeed later, unchanged. """
    side_effects: ProblemSideEffects
    """ `none`: the request changed nothing. `unknown`: the server cannot tell. """
    request_id: None | str
    """ The id of the request, as in `X-Request-Id` and in the server's log. """
    errors: list[ErrorItem] | Unset = UNSET
    """ Each mistake in the body or the parameters. """
    last_id: str | Unset = UNSET
    """ The stream's last id, if the client needs it to continue. """
    first_id: str | Unset = UNSET
    """ The stream's first id, if the client needs it to continue. """
    given: str | Unset = UNSET
    """ The value that the server refused. """
    argument: str | Unset = UNSET
    """ The name of the argument whose value the server refused. """
    offset: str | Unset = UNSET
    """ With `INVALID_FILTER`: how many characters of the filter come before the error. """
    excerpt: str | Unset = UNSET
    """ With `INVALID_FILTER`: the filter around the error, and below it a line with a caret. """
    required_scope: str | Unset = UNSET
    """ The scope that the token lacks; with 403 `NOPERM`. """
    key: str | Unset = UNSET
    """ The key of the stream that the error is about; with `NOPERM` the key that the token's patterns do not allow
    under that scope. """
    group: str | Unset = UNSET
    """ The consumer group that the error is about. """
    consumer: str | Unset = UNSET
    """ The consumer that the error is about. """
    id: str | Unset = UNSET
    """ The entry that the error is about. """
    encoding: ProblemEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    missing: ProblemMissing | Unset = UNSET
    """ With `NOGROUP`: what does not exist. """
    error: str | Unset = UNSET
    """ The error as a Redis error line, which clients for Redis over REST show. Only the command endpoint, with the
    exact line of Redis, and paths outside of `/v1` return it. """
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

        argument = self.argument

        offset = self.offset

        excerpt = self.excerpt

        required_scope = self.required_scope

        key = self.key

        group = self.group

        consumer = self.consumer

        id = self.id

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        missing: str | Unset = UNSET
        if not isinstance(self.missing, Unset):
            missing = self.missing

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
        if argument is not UNSET:
            field_dict["argument"] = argument
        if offset is not UNSET:
            field_dict["offset"] = offset
        if excerpt is not UNSET:
            field_dict["excerpt"] = excerpt
        if required_scope is not UNSET:
            field_dict["required_scope"] = required_scope
        if key is not UNSET:
            field_dict["key"] = key
        if group is not UNSET:
            field_dict["group"] = group
        if consumer is not UNSET:
            field_dict["consumer"] = consumer
        if id is not UNSET:
            field_dict["id"] = id
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if missing is not UNSET:
            field_dict["missing"] = missing
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

        argument = d.pop("argument", UNSET)

        offset = d.pop("offset", UNSET)

        excerpt = d.pop("excerpt", UNSET)

        required_scope = d.pop("required_scope", UNSET)

        key = d.pop("key", UNSET)

        group = d.pop("group", UNSET)

        consumer = d.pop("consumer", UNSET)

        id = d.pop("id", UNSET)

        _encoding = d.pop("encoding", UNSET)
        encoding: ProblemEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_problem_encoding(_encoding)

        _missing = d.pop("missing", UNSET)
        missing: ProblemMissing | Unset
        if isinstance(_missing, Unset):
            missing = UNSET
        else:
            missing = check_problem_missing(_missing)

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
            argument=argument,
            offset=offset,
            excerpt=excerpt,
            required_scope=required_scope,
            key=key,
            group=group,
            consumer=consumer,
            id=id,
            encoding=encoding,
            missing=missing,
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
