from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.read_body import ReadBody
from ...models.xread_encoding import XreadEncoding
from ...models.xread_shape import XreadShape
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ReadBody,
    shape: XreadShape | Unset = "fields",
    encoding: XreadEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["prefer"] = prefer

    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    params: dict[str, Any] = {}

    json_shape: str | Unset = UNSET
    if not isinstance(shape, Unset):
        json_shape = shape

    params["shape"] = json_shape

    json_encoding: str | Unset = UNSET
    if not isinstance(encoding, Unset):
        json_encoding = encoding

    params["encoding"] = json_encoding

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/read",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

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

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 421:
        response_421 = Problem.from_dict(response.json())

        return response_421

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

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
    *,
    client: AuthenticatedClient | Client,
    body: ReadBody,
    shape: XreadShape | Unset = "fields",
    encoding: XreadEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read several streams

     Return the entries after a position in each stream. With `wait_ms`, wait for them.

    The server responds as soon as one of the streams has entries, or when the time is over. A missing
    stream
    counts as an empty one. With `incarnation`, the server refuses a position of an earlier stream with
    the
    same key. O(log n + entries) for each stream.

    Args:
        shape (XreadShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.
        body (ReadBody): A read of one or several streams. Example: {'streams': [{'key':
            'race:france', 'after': '1692632094485-0'}], 'count': 100}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        shape=shape,
        encoding=encoding,
        prefer=prefer,
        consistency=consistency,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: ReadBody,
    shape: XreadShape | Unset = "fields",
    encoding: XreadEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read several streams

     Return the entries after a position in each stream. With `wait_ms`, wait for them.

    The server responds as soon as one of the streams has entries, or when the time is over. A missing
    stream
    counts as an empty one. With `incarnation`, the server refuses a position of an earlier stream with
    the
    same key. O(log n + entries) for each stream.

    Args:
        shape (XreadShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.
        body (ReadBody): A read of one or several streams. Example: {'streams': [{'key':
            'race:france', 'after': '1692632094485-0'}], 'count': 100}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        shape=shape,
        encoding=encoding,
        prefer=prefer,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ReadBody,
    shape: XreadShape | Unset = "fields",
    encoding: XreadEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read several streams

     Return the entries after a position in each stream. With `wait_ms`, wait for them.

    The server responds as soon as one of the streams has entries, or when the time is over. A missing
    stream
    counts as an empty one. With `incarnation`, the server refuses a position of an earlier stream with
    the
    same key. O(log n + entries) for each stream.

    Args:
        shape (XreadShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.
        body (ReadBody): A read of one or several streams. Example: {'streams': [{'key':
            'race:france', 'after': '1692632094485-0'}], 'count': 100}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        shape=shape,
        encoding=encoding,
        prefer=prefer,
        consistency=consistency,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: ReadBody,
    shape: XreadShape | Unset = "fields",
    encoding: XreadEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read several streams

     Return the entries after a position in each stream. With `wait_ms`, wait for them.

    The server responds as soon as one of the streams has entries, or when the time is over. A missing
    stream
    counts as an empty one. With `incarnation`, the server refuses a position of an earlier stream with
    the
    same key. O(log n + entries) for each stream.

    Args:
        shape (XreadShape | Unset): `fields`: return fields as an object, or as pairs if a name
            repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        consistency (str | Unset):  Example: eventual.
        body (ReadBody): A read of one or several streams. Example: {'streams': [{'key':
            'race:france', 'after': '1692632094485-0'}], 'count': 100}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            shape=shape,
            encoding=encoding,
            prefer=prefer,
            consistency=consistency,
        )
    ).parsed
