from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.group_read_body import GroupReadBody
from ...models.problem import Problem
from ...models.xreadgroup_encoding import XreadgroupEncoding
from ...models.xreadgroup_shape import XreadgroupShape
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: GroupReadBody,
    shape: XreadgroupShape | Unset = "fields",
    encoding: XreadgroupEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["prefer"] = prefer

    if not isinstance(min_replicas, Unset):
        headers["Min-Replicas"] = min_replicas

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
        "url": "/v1/read-group",
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
    *,
    client: AuthenticatedClient | Client,
    body: GroupReadBody,
    shape: XreadgroupShape | Unset = "fields",
    encoding: XreadgroupEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read as a consumer of a group

     Return entries that are new to the group. They are pending for the consumer until it acknowledges
    them.

    With `claim_min_idle_ms`, the consumer first claims entries that have been pending for that long.
    With an
    id instead of `>`, it reads its own pending entries. The group must exist on all streams (404
    `NOGROUP`).

    Args:
        shape (XreadgroupShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadgroupEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        min_replicas (str | Unset):  Example: 1.
        body (GroupReadBody): A read by one consumer of a group. Example: {'group': 'judges',
            'consumer': 'alice', 'streams': [{'key': 'race:france', 'id': '>'}], 'count': 100}.

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
        min_replicas=min_replicas,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: GroupReadBody,
    shape: XreadgroupShape | Unset = "fields",
    encoding: XreadgroupEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read as a consumer of a group

     Return entries that are new to the group. They are pending for the consumer until it acknowledges
    them.

    With `claim_min_idle_ms`, the consumer first claims entries that have been pending for that long.
    With an
    id instead of `>`, it reads its own pending entries. The group must exist on all streams (404
    `NOGROUP`).

    Args:
        shape (XreadgroupShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadgroupEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        min_replicas (str | Unset):  Example: 1.
        body (GroupReadBody): A read by one consumer of a group. Example: {'group': 'judges',
            'consumer': 'alice', 'streams': [{'key': 'race:france', 'id': '>'}], 'count': 100}.

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
        min_replicas=min_replicas,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: GroupReadBody,
    shape: XreadgroupShape | Unset = "fields",
    encoding: XreadgroupEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Read as a consumer of a group

     Return entries that are new to the group. They are pending for the consumer until it acknowledges
    them.

    With `claim_min_idle_ms`, the consumer first claims entries that have been pending for that long.
    With an
    id instead of `>`, it reads its own pending entries. The group must exist on all streams (404
    `NOGROUP`).

    Args:
        shape (XreadgroupShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadgroupEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        min_replicas (str | Unset):  Example: 1.
        body (GroupReadBody): A read by one consumer of a group. Example: {'group': 'judges',
            'consumer': 'alice', 'streams': [{'key': 'race:france', 'id': '>'}], 'count': 100}.

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
        min_replicas=min_replicas,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: GroupReadBody,
    shape: XreadgroupShape | Unset = "fields",
    encoding: XreadgroupEncoding | Unset = UNSET,
    prefer: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Read as a consumer of a group

     Return entries that are new to the group. They are pending for the consumer until it acknowledges
    them.

    With `claim_min_idle_ms`, the consumer first claims entries that have been pending for that long.
    With an
    id instead of `>`, it reads its own pending entries. The group must exist on all streams (404
    `NOGROUP`).

    Args:
        shape (XreadgroupShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (XreadgroupEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        prefer (str | Unset): `wait=N`: wait up to N seconds, if the request has no `wait_ms`.
            Example: wait=5.
        min_replicas (str | Unset):  Example: 1.
        body (GroupReadBody): A read by one consumer of a group. Example: {'group': 'judges',
            'consumer': 'alice', 'streams': [{'key': 'race:france', 'id': '>'}], 'count': 100}.

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
            min_replicas=min_replicas,
        )
    ).parsed
