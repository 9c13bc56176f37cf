from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 100,
    prefix: str | Unset = "",
    start_after: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["prefix"] = prefix

    params["start_after"] = start_after

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/streams",
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
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    prefix: str | Unset = "",
    start_after: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """List streams

     List streams in byte order of their keys, page by page. O(log n + page).

    Args:
        limit (int | Unset): How many streams to return at most. Default: 100. Example: 100.
        prefix (str | Unset): Return only streams whose key begins with these bytes. Percent-
            encoded. Default: ''. Example: race:.
        start_after (str | Unset): Return only streams whose key follows this key in byte order:
            `next` of the previous page.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        prefix=prefix,
        start_after=start_after,
        consistency=consistency,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    prefix: str | Unset = "",
    start_after: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """List streams

     List streams in byte order of their keys, page by page. O(log n + page).

    Args:
        limit (int | Unset): How many streams to return at most. Default: 100. Example: 100.
        prefix (str | Unset): Return only streams whose key begins with these bytes. Percent-
            encoded. Default: ''. Example: race:.
        start_after (str | Unset): Return only streams whose key follows this key in byte order:
            `next` of the previous page.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        client=client,
        limit=limit,
        prefix=prefix,
        start_after=start_after,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    prefix: str | Unset = "",
    start_after: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """List streams

     List streams in byte order of their keys, page by page. O(log n + page).

    Args:
        limit (int | Unset): How many streams to return at most. Default: 100. Example: 100.
        prefix (str | Unset): Return only streams whose key begins with these bytes. Percent-
            encoded. Default: ''. Example: race:.
        start_after (str | Unset): Return only streams whose key follows this key in byte order:
            `next` of the previous page.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        prefix=prefix,
        start_after=start_after,
        consistency=consistency,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    prefix: str | Unset = "",
    start_after: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """List streams

     List streams in byte order of their keys, page by page. O(log n + page).

    Args:
        limit (int | Unset): How many streams to return at most. Default: 100. Example: 100.
        prefix (str | Unset): Return only streams whose key begins with these bytes. Percent-
            encoded. Default: ''. Example: race:.
        start_after (str | Unset): Return only streams whose key follows this key in byte order:
            `next` of the previous page.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            prefix=prefix,
            start_after=start_after,
            consistency=consistency,
        )
    ).parsed
