from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.xrange_encoding import XrangeEncoding
from ...models.xrange_order import XrangeOrder
from ...models.xrange_shape import XrangeShape
from ...types import UNSET, Response, Unset


def _get_kwargs(
    key: str,
    *,
    start: str | Unset = "-",
    end: str | Unset = "+",
    order: XrangeOrder | Unset = "asc",
    after: str | Unset = UNSET,
    wait_ms: int | Unset = UNSET,
    incarnation: str | Unset = UNSET,
    count: int | Unset = 100000,
    strict: bool | Unset = False,
    shape: XrangeShape | Unset = "fields",
    encoding: XrangeEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["prefer"] = prefer

    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    params: dict[str, Any] = {}

    params["start"] = start

    params["end"] = end

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    params["after"] = after

    params["wait_ms"] = wait_ms

    params["incarnation"] = incarnation

    params["count"] = count

    params["strict"] = strict

    json_shape: str | Unset = UNSET
    if not isinstance(shape, Unset):
        json_shape = shape

    params["shape"] = json_shape

    json_encoding: str | Unset = UNSET
    if not isinstance(encoding, Unset):
        json_encoding = encoding

    params["encoding"] = json_encoding

    params["filter"] = filter_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/streams/{key}/entries".format(
            key=quote(str(key), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem | None:
    if response.status_code == 200:
        response_200 = response.json()
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

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

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
) -> Response[Any | Problem]:
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
    order: XrangeOrder | Unset = "asc",
    after: str | Unset = UNSET,
    wait_ms: int | Unset = UNSET,
    incarnation: str | Unset = UNSET,
    count: int | Unset = 100000,
    strict: bool | Unset = False,
    shape: XrangeShape | Unset = "fields",
    encoding: XrangeEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read a range of entries

     Return a page of the entries between two ids, inclusive. A missing stream counts as an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`), the request waits for entries. The server responds
    as
    soon as there are entries, or with an empty page when the time is over. Send `next` as the `after`
    of the
    next request. With `incarnation`, the server refuses a position of an earlier stream with the same
    key.
    O(log n + page).

    With `filter`, the page has only the entries that match. One request examines a limited number of
    entries,
    so a page with `next` can be empty: send the next request. O(log n + examined entries).

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        order (XrangeOrder | Unset): `desc` reads backwards from `end` (XREVRANGE). Default:
            'asc'. Example: asc.
        after (str | Unset): Read entries after this id instead (XREAD). `$`: only entries
            appended from now on. `+`: from the last entry on. It cannot be combined with `start`,
            `end` and `order`.
        wait_ms (int | Unset): How many milliseconds to wait if there are no entries; needs
            `after`. 0 by default. Example: 0.
        incarnation (str | Unset): The incarnation of the stream in which an earlier read reached
            the position. If the stream has another one now, or is missing, the answer is 410
            `POSITION_TRIMMED`; continue after its `next`. Empty: not known yet; then the answer is
            410 if the last id of the stream is before the position. With it, the response has the
            header `X-Incarnation`.
        count (int | Unset): How many entries to return at most. Default: 100000. Example: 100.
        strict (bool | Unset): Fail with 410 if entries at or after the position were trimmed.
            Default: False. Example: False.
        shape (XrangeShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XrangeEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        start=start,
        end=end,
        order=order,
        after=after,
        wait_ms=wait_ms,
        incarnation=incarnation,
        count=count,
        strict=strict,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        prefer=prefer,
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
    order: XrangeOrder | Unset = "asc",
    after: str | Unset = UNSET,
    wait_ms: int | Unset = UNSET,
    incarnation: str | Unset = UNSET,
    count: int | Unset = 100000,
    strict: bool | Unset = False,
    shape: XrangeShape | Unset = "fields",
    encoding: XrangeEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read a range of entries

     Return a page of the entries between two ids, inclusive. A missing stream counts as an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`), the request waits for entries. The server responds
    as
    soon as there are entries, or with an empty page when the time is over. Send `next` as the `after`
    of the
    next request. With `incarnation`, the server refuses a position of an earlier stream with the same
    key.
    O(log n + page).

    With `filter`, the page has only the entries that match. One request examines a limited number of
    entries,
    so a page with `next` can be empty: send the next request. O(log n + examined entries).

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        order (XrangeOrder | Unset): `desc` reads backwards from `end` (XREVRANGE). Default:
            'asc'. Example: asc.
        after (str | Unset): Read entries after this id instead (XREAD). `$`: only entries
            appended from now on. `+`: from the last entry on. It cannot be combined with `start`,
            `end` and `order`.
        wait_ms (int | Unset): How many milliseconds to wait if there are no entries; needs
            `after`. 0 by default. Example: 0.
        incarnation (str | Unset): The incarnation of the stream in which an earlier read reached
            the position. If the stream has another one now, or is missing, the answer is 410
            `POSITION_TRIMMED`; continue after its `next`. Empty: not known yet; then the answer is
            410 if the last id of the stream is before the position. With it, the response has the
            header `X-Incarnation`.
        count (int | Unset): How many entries to return at most. Default: 100000. Example: 100.
        strict (bool | Unset): Fail with 410 if entries at or after the position were trimmed.
            Default: False. Example: False.
        shape (XrangeShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XrangeEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        key=key,
        client=client,
        start=start,
        end=end,
        order=order,
        after=after,
        wait_ms=wait_ms,
        incarnation=incarnation,
        count=count,
        strict=strict,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        prefer=prefer,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    start: str | Unset = "-",
    end: str | Unset = "+",
    order: XrangeOrder | Unset = "asc",
    after: str | Unset = UNSET,
    wait_ms: int | Unset = UNSET,
    incarnation: str | Unset = UNSET,
    count: int | Unset = 100000,
    strict: bool | Unset = False,
    shape: XrangeShape | Unset = "fields",
    encoding: XrangeEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read a range of entries

     Return a page of the entries between two ids, inclusive. A missing stream counts as an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`), the request waits for entries. The server responds
    as
    soon as there are entries, or with an empty page when the time is over. Send `next` as the `after`
    of the
    next request. With `incarnation`, the server refuses a position of an earlier stream with the same
    key.
    O(log n + page).

    With `filter`, the page has only the entries that match. One request examines a limited number of
    entries,
    so a page with `next` can be empty: send the next request. O(log n + examined entries).

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        order (XrangeOrder | Unset): `desc` reads backwards from `end` (XREVRANGE). Default:
            'asc'. Example: asc.
        after (str | Unset): Read entries after this id instead (XREAD). `$`: only entries
            appended from now on. `+`: from the last entry on. It cannot be combined with `start`,
            `end` and `order`.
        wait_ms (int | Unset): How many milliseconds to wait if there are no entries; needs
            `after`. 0 by default. Example: 0.
        incarnation (str | Unset): The incarnation of the stream in which an earlier read reached
            the position. If the stream has another one now, or is missing, the answer is 410
            `POSITION_TRIMMED`; continue after its `next`. Empty: not known yet; then the answer is
            410 if the last id of the stream is before the position. With it, the response has the
            header `X-Incarnation`.
        count (int | Unset): How many entries to return at most. Default: 100000. Example: 100.
        strict (bool | Unset): Fail with 410 if entries at or after the position were trimmed.
            Default: False. Example: False.
        shape (XrangeShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XrangeEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        start=start,
        end=end,
        order=order,
        after=after,
        wait_ms=wait_ms,
        incarnation=incarnation,
        count=count,
        strict=strict,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        prefer=prefer,
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
    order: XrangeOrder | Unset = "asc",
    after: str | Unset = UNSET,
    wait_ms: int | Unset = UNSET,
    incarnation: str | Unset = UNSET,
    count: int | Unset = 100000,
    strict: bool | Unset = False,
    shape: XrangeShape | Unset = "fields",
    encoding: XrangeEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read a range of entries

     Return a page of the entries between two ids, inclusive. A missing stream counts as an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`), the request waits for entries. The server responds
    as
    soon as there are entries, or with an empty page when the time is over. Send `next` as the `after`
    of the
    next request. With `incarnation`, the server refuses a position of an earlier stream with the same
    key.
    O(log n + page).

    With `filter`, the page has only the entries that match. One request examines a limited number of
    entries,
    so a page with `next` can be empty: send the next request. O(log n + examined entries).

    Args:
        key (str):  Example: race:france.
        start (str | Unset): The smallest id, inclusive: `-` for the first entry, `ms`, `ms-seq`,
            or `(id` to exclude the id. Default: '-'. Example: 1692632086370-0.
        end (str | Unset): The greatest id, inclusive: `+` for the last entry, `ms` (with all
            sequence numbers), `ms-seq`, or `(id` to exclude the id. Default: '+'. Example: +.
        order (XrangeOrder | Unset): `desc` reads backwards from `end` (XREVRANGE). Default:
            'asc'. Example: asc.
        after (str | Unset): Read entries after this id instead (XREAD). `$`: only entries
            appended from now on. `+`: from the last entry on. It cannot be combined with `start`,
            `end` and `order`.
        wait_ms (int | Unset): How many milliseconds to wait if there are no entries; needs
            `after`. 0 by default. Example: 0.
        incarnation (str | Unset): The incarnation of the stream in which an earlier read reached
            the position. If the stream has another one now, or is missing, the answer is 410
            `POSITION_TRIMMED`; continue after its `next`. Empty: not known yet; then the answer is
            410 if the last id of the stream is before the position. With it, the response has the
            header `X-Incarnation`.
        count (int | Unset): How many entries to return at most. Default: 100000. Example: 100.
        strict (bool | Unset): Fail with 410 if entries at or after the position were trimmed.
            Default: False. Example: False.
        shape (XrangeShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XrangeEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            key=key,
            client=client,
            start=start,
            end=end,
            order=order,
            after=after,
            wait_ms=wait_ms,
            incarnation=incarnation,
            count=count,
            strict=strict,
            shape=shape,
            encoding=encoding,
            filter_=filter_,
            prefer=prefer,
            consistency=consistency,
        )
    ).parsed
