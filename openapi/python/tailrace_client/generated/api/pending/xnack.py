from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.nack_body import NackBody
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    key: str,
    group: str,
    *,
    body: NackBody,
    min_replicas: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(min_replicas, Unset):
        headers["Min-Replicas"] = min_replicas

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/streams/{key}/groups/{group}:nack".format(
            key=quote(str(key), safe=""),
            group=quote(str(group), safe=""),
        ),
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

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
    key: str,
    group: str,
    *,
    client: AuthenticatedClient | Client,
    body: NackBody,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Return entries unprocessed (nack)

     Return entries to the group: they lose their owner, and the next claim takes them first.

    With `delay_ms`, or by the `backoff` of the group, no claim takes them before that time. O(ids log
    n).

    Args:
        key (str):  Example: race:france.
        group (str):  Example: judges.
        min_replicas (str | Unset):  Example: 1.
        body (NackBody): Entries that a consumer returns to its group unprocessed. Example:
            {'ids': ['1692632094485-0'], 'mode': 'fail'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        group=group,
        body=body,
        min_replicas=min_replicas,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    key: str,
    group: str,
    *,
    client: AuthenticatedClient | Client,
    body: NackBody,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Return entries unprocessed (nack)

     Return entries to the group: they lose their owner, and the next claim takes them first.

    With `delay_ms`, or by the `backoff` of the group, no claim takes them before that time. O(ids log
    n).

    Args:
        key (str):  Example: race:france.
        group (str):  Example: judges.
        min_replicas (str | Unset):  Example: 1.
        body (NackBody): Entries that a consumer returns to its group unprocessed. Example:
            {'ids': ['1692632094485-0'], 'mode': 'fail'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        key=key,
        group=group,
        client=client,
        body=body,
        min_replicas=min_replicas,
    ).parsed


async def asyncio_detailed(
    key: str,
    group: str,
    *,
    client: AuthenticatedClient | Client,
    body: NackBody,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Return entries unprocessed (nack)

     Return entries to the group: they lose their owner, and the next claim takes them first.

    With `delay_ms`, or by the `backoff` of the group, no claim takes them before that time. O(ids log
    n).

    Args:
        key (str):  Example: race:france.
        group (str):  Example: judges.
        min_replicas (str | Unset):  Example: 1.
        body (NackBody): Entries that a consumer returns to its group unprocessed. Example:
            {'ids': ['1692632094485-0'], 'mode': 'fail'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        group=group,
        body=body,
        min_replicas=min_replicas,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    key: str,
    group: str,
    *,
    client: AuthenticatedClient | Client,
    body: NackBody,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Return entries unprocessed (nack)

     Return entries to the group: they lose their owner, and the next claim takes them first.

    With `delay_ms`, or by the `backoff` of the group, no claim takes them before that time. O(ids log
    n).

    Args:
        key (str):  Example: race:france.
        group (str):  Example: judges.
        min_replicas (str | Unset):  Example: 1.
        body (NackBody): Entries that a consumer returns to its group unprocessed. Example:
            {'ids': ['1692632094485-0'], 'mode': 'fail'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            key=key,
            group=group,
            client=client,
            body=body,
            min_replicas=min_replicas,
        )
    ).parsed
