from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_encoding_type_0 import (
    ProblemEncodingType0,
    check_problem_encoding_type_0,
)
from ..models.problem_missing_type_0 import (
    ProblemMissingType0,
    check_problem_missing_type_0,
)
from ..models.problem_side_effects import ProblemSideEffects, check_problem_side_effects

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
    errors: list[ErrorItem] | None
    """ Each mistake in the body or the parameters. """
    last_id: None | str
    """ The stream's last id, if the client needs it to continue. """
    first_id: None | str
    """ The stream's first id, if the client needs it to continue. """
    given: None | str
    """ The value that the server refused. """
    argument: None | str
    """ The name of the argument whose value the server refused. """
    offset: None | str
    """ With `INVALID_FILTER`: how many characters of the filter come before the error. """
    excerpt: None | str
    """ With `INVALID_FILTER`: the filter around the error, and below it a line with a caret. """
    required_scope: None | str
    """ The scope that the token lacks; with 403 `NOPERM`. """
    key: None | str
    """ The key of the stream that the error is about; with `NOPERM` the key that the token's patterns do not allow
    under that scope. """
    group: None | str
    """ The consumer group that the error is about. """
    consumer: None | str
    """ The consumer that the error is about. """
    id: None | str
    """ The entry that the error is about. """
    encoding: None | ProblemEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    missing: None | ProblemMissingType0
    """ With `NOGROUP`: what does not exist. """
    error: None | str
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

        errors: list[dict[str, Any]] | None
        if isinstance(self.errors, list):
            errors = []
            for errors_type_0_item_data in self.errors:
                errors_type_0_item = errors_type_0_item_data.to_dict()
                errors.append(errors_type_0_item)

        else:
            errors = self.errors

        last_id: None | str
        last_id = self.last_id

        first_id: None | str
        first_id = self.first_id

        given: None | str
        given = self.given

        argument: None | str
        argument = self.argument

        offset: None | str
        offset = self.offset

        excerpt: None | str
        excerpt = self.excerpt

        required_scope: None | str
        required_scope = self.required_scope

        key: None | str
        key = self.key

        group: None | str
        group = self.group

        consumer: None | str
        consumer = self.consumer

        id: None | str
        id = self.id

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        missing: None | str
        if isinstance(self.missing, str):
            missing = self.missing
        else:
            missing = self.missing

        error: None | str
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
                "errors": errors,
                "last_id": last_id,
                "first_id": first_id,
                "given": given,
                "argument": argument,
                "offset": offset,
                "excerpt": excerpt,
                "required_scope": required_scope,
                "key": key,
                "group": group,
                "consumer": consumer,
                "id": id,
                "encoding": encoding,
                "missing": missing,
                "error": error,
            }
        )

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

        request_id = _parse_request_id(d.pop("request_id", None))

        def _parse_errors(data: object) -> list[ErrorItem] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                errors_type_0 = []
                _errors_type_0 = data
                for errors_type_0_item_data in _errors_type_0:
                    errors_type_0_item = ErrorItem.from_dict(errors_type_0_item_data)

                    errors_type_0.append(errors_type_0_item)

                return errors_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ErrorItem] | None, data)

        errors = _parse_errors(d.pop("errors", None))

        def _parse_last_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_id = _parse_last_id(d.pop("last_id", None))

        def _parse_first_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        first_id = _parse_first_id(d.pop("first_id", None))

        def _parse_given(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        given = _parse_given(d.pop("given", None))

        def _parse_argument(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        argument = _parse_argument(d.pop("argument", None))

        def _parse_offset(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        offset = _parse_offset(d.pop("offset", None))

        def _parse_excerpt(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        excerpt = _parse_excerpt(d.pop("excerpt", None))

        def _parse_required_scope(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        required_scope = _parse_required_scope(d.pop("required_scope", None))

        def _parse_key(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        key = _parse_key(d.pop("key", None))

        def _parse_group(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        group = _parse_group(d.pop("group", None))

        def _parse_consumer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        consumer = _parse_consumer(d.pop("consumer", None))

        def _parse_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        id = _parse_id(d.pop("id", None))

        def _parse_encoding(data: object) -> None | ProblemEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_problem_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProblemEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        def _parse_missing(data: object) -> None | ProblemMissingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                missing_type_0 = check_problem_missing_type_0(data)

                return missing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProblemMissingType0, data)

        missing = _parse_missing(d.pop("missing", None))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error", None))

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
