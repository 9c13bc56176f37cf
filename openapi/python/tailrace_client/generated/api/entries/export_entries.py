from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.export_entries_encoding import (
    ExportEntriesEncoding,
)
from ...models.export_entries_shape import (
    ExportEntriesShape,
)
from ...models.problem import Problem
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    key: str,
    *,
    start: str | Unset = "-",
    end: str | Unset = "+",
    shape: ExportEntriesShape | Unset = "entry",
    encoding: ExportEntriesEncoding | Unset = UNSET,
    field: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    params: dict[str, Any] = {}

    params["start"] = start

    params["end"] = end

    json_shape: str | Unset = UNSET
    if not isinstance(shape, Unset):
        json_shape = shape

    params["shape"] = json_shape

    json_encoding: str | Unset = UNSET
    if not isinstance(encoding, Unset):
        json_encoding = encoding

    params["encoding"] = json_encoding

    json_field: list[str] | Unset = UNSET
    if not isinstance(field, Unset):
        json_field = field

    params["field"] = json_field

    params["filter"] = filter_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/streams/{key}/entries:export".format(
            key=quote(str(key), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> File | Problem | None:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 406:
        response_406 = Problem.from_dict(response.json())

        return response_406

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 414:
        response_414 = Problem.from_dict(response.json())

        return response_414

    if response.status_code == 421:
        response_421 = Problem.from_dict(response.json())

        return response_421

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 431:
        response_431 = Problem.from_dict(response.json())

        return response_431

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 501:
        response_501 = Problem.from_dict(response.json())

        return response_501

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[File | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    start: str | Unset = "-",
    end: str | Unset = "+",
    shape: ExportEntriesShape | Unset = "entry",
    encoding: ExportEntriesEncoding | Unset = UNSET,
    field: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[File | Problem]:
    """Export entries as NDJSON

     Return all entries of a range, however many. A missing stream counts as an empty one. O(n).

    The export includes entries in the range that are appended while it runs. All entries are of the
    stream
    that `X-Incarnation` names. With `filter`, the export has only the entries that match.

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        shape (ExportEntriesShape | Unset): `entry`: whole entries. `pairs`: whole entries, with
            fields as pairs. `fields`: only the fields, in the format of `entries:import`; an entry
            that repeats a name or is not UTF-8 is written as a whole entry. Default: 'entry'.
            Example: entry.
        encoding (ExportEntriesEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        field (list[str] | Unset): Write only the fields with these names, in this order. Repeat
            the parameter for each name. An entry without any of them is written with no fields.
            Example: ['rider', 'speed'].
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        start=start,
        end=end,
        shape=shape,
        encoding=encoding,
        field=field,
        filter_=filter_,
        consistency=consistency,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    start: str | Unset = "-",
    end: str | Unset = "+",
    shape: ExportEntriesShape | Unset = "entry",
    encoding: ExportEntriesEncoding | Unset = UNSET,
    field: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> File | Problem | None:
    """Export entries as NDJSON

     Return all entries of a range, however many. A missing stream counts as an empty one. O(n).

    The export includes entries in the range that are appended while it runs. All entries are of the
    stream
    that `X-Incarnation` names. With `filter`, the export has only the entries that match.

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        shape (ExportEntriesShape | Unset): `entry`: whole entries. `pairs`: whole entries, with
            fields as pairs. `fields`: only the fields, in the format of `entries:import`; an entry
            that repeats a name or is not UTF-8 is written as a whole entry. Default: 'entry'.
            Example: entry.
        encoding (ExportEntriesEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        field (list[str] | Unset): Write only the fields with these names, in this order. Repeat
            the parameter for each name. An entry without any of them is written with no fields.
            Example: ['rider', 'speed'].
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File | Problem
    """

    return sync_detailed(
        key=key,
        client=client,
        start=start,
        end=end,
        shape=shape,
        encoding=encoding,
        field=field,
        filter_=filter_,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    start: str | Unset = "-",
    end: str | Unset = "+",
    shape: ExportEntriesShape | Unset = "entry",
    encoding: ExportEntriesEncoding | Unset = UNSET,
    field: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[File | Problem]:
    """Export entries as NDJSON

     Return all entries of a range, however many. A missing stream counts as an empty one. O(n).

    The export includes entries in the range that are appended while it runs. All entries are of the
    stream
    that `X-Incarnation` names. With `filter`, the export has only the entries that match.

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        shape (ExportEntriesShape | Unset): `entry`: whole entries. `pairs`: whole entries, with
            fields as pairs. `fields`: only the fields, in the format of `entries:import`; an entry
            that repeats a name or is not UTF-8 is written as a whole entry. Default: 'entry'.
            Example: entry.
        encoding (ExportEntriesEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        field (list[str] | Unset): Write only the fields with these names, in this order. Repeat
            the parameter for each name. An entry without any of them is written with no fields.
            Example: ['rider', 'speed'].
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        start=start,
        end=end,
        shape=shape,
        encoding=encoding,
        field=field,
        filter_=filter_,
        consistency=consistency,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    start: str | Unset = "-",
    end: str | Unset = "+",
    shape: ExportEntriesShape | Unset = "entry",
    encoding: ExportEntriesEncoding | Unset = UNSET,
    field: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> File | Problem | None:
    """Export entries as NDJSON

     Return all entries of a range, however many. A missing stream counts as an empty one. O(n).

    The export includes entries in the range that are appended while it runs. All entries are of the
    stream
    that `X-Incarnation` names. With `filter`, the export has only the entries that match.

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        shape (ExportEntriesShape | Unset): `entry`: whole entries. `pairs`: whole entries, with
            fields as pairs. `fields`: only the fields, in the format of `entries:import`; an entry
            that repeats a name or is not UTF-8 is written as a whole entry. Default: 'entry'.
            Example: entry.
        encoding (ExportEntriesEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        field (list[str] | Unset): Write only the fields with these names, in this order. Repeat
            the parameter for each name. An entry without any of them is written with no fields.
            Example: ['rider', 'speed'].
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File | Problem
    """

    return (
        await asyncio_detailed(
            key=key,
            client=client,
            start=start,
            end=end,
            shape=shape,
            encoding=encoding,
            field=field,
            filter_=filter_,
            consistency=consistency,
        )
    ).parsed
