from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.import_entries_shape import (
    ImportEntriesShape,
)
from ...models.import_entries_tailrace_trace import (
    ImportEntriesTailraceTrace,
)
from ...models.problem import Problem
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    key: str,
    *,
    body: File,
    shape: ImportEntriesShape | Unset = "fields",
    content_encoding: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    producer_id: str | Unset = UNSET,
    producer_epoch: int | Unset = UNSET,
    producer_layout: str | Unset = UNSET,
    tailrace_trace: ImportEntriesTailraceTrace | Unset = UNSET,
    traceparent: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(content_encoding, Unset):
        headers["content-encoding"] = content_encoding

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(producer_id, Unset):
        headers["Producer-Id"] = producer_id

    if not isinstance(producer_epoch, Unset):
        headers["Producer-Epoch"] = str(producer_epoch)

    if not isinstance(producer_layout, Unset):
        headers["Producer-Layout"] = producer_layout

    if not isinstance(tailrace_trace, Unset):
        headers["Tailrace-Trace"] = str(tailrace_trace)

    if not isinstance(traceparent, Unset):
        headers["traceparent"] = traceparent

    if not isinstance(min_replicas, Unset):
        headers["Min-Replicas"] = min_replicas

    params: dict[str, Any] = {}

    json_shape: str | Unset = UNSET
    if not isinstance(shape, Unset):
        json_shape = shape

    params["shape"] = json_shape

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/streams/{key}/entries:import".format(
            key=quote(str(key), safe=""),
        ),
        "params": params,
    }

    _kwargs["content"] = body.payload
    headers["Content-Type"] = "application/x-ndjson"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem | None:
    if response.status_code == 200:
        response_200 = response.json()
        return response_200

    if response.status_code == 201:
        response_201 = response.json()
        return response_201

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

    if response.status_code == 507:
        response_507 = Problem.from_dict(response.json())

        return response_507

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
    body: File,
    shape: ImportEntriesShape | Unset = "fields",
    content_encoding: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    producer_id: str | Unset = UNSET,
    producer_epoch: int | Unset = UNSET,
    producer_layout: str | Unset = UNSET,
    tailrace_trace: ImportEntriesTailraceTrace | Unset = UNSET,
    traceparent: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Append the lines of an NDJSON body

     Append one entry for each line: all of them or none. Blank lines are ignored. O(bytes).

    With an idempotency key, a repeated request must have the same bytes as the first one, including
    their
    compression.

    Args:
        key (str):  Example: race:france.
        shape (ImportEntriesShape | Unset): What each line contains: only the fields, or a whole
            entry. Default: 'fields'. Example: fields.
        content_encoding (str | Unset): The compression of the body: `gzip` or `zstd`. Example:
            identity.
        idempotency_key (str | Unset):  Example: batch-17.
        producer_id (str | Unset):  Example: timing-gate-1.
        producer_epoch (int | Unset):  Example: 1.
        producer_layout (str | Unset):  Example: 4 partitions.
        tailrace_trace (ImportEntriesTailraceTrace | Unset):  Example: entry.
        traceparent (str | Unset):  Example:
            00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
        min_replicas (str | Unset):  Example: 1.
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        body=body,
        shape=shape,
        content_encoding=content_encoding,
        idempotency_key=idempotency_key,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        producer_layout=producer_layout,
        tailrace_trace=tailrace_trace,
        traceparent=traceparent,
        min_replicas=min_replicas,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    body: File,
    shape: ImportEntriesShape | Unset = "fields",
    content_encoding: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    producer_id: str | Unset = UNSET,
    producer_epoch: int | Unset = UNSET,
    producer_layout: str | Unset = UNSET,
    tailrace_trace: ImportEntriesTailraceTrace | Unset = UNSET,
    traceparent: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Append the lines of an NDJSON body

     Append one entry for each line: all of them or none. Blank lines are ignored. O(bytes).

    With an idempotency key, a repeated request must have the same bytes as the first one, including
    their
    compression.

    Args:
        key (str):  Example: race:france.
        shape (ImportEntriesShape | Unset): What each line contains: only the fields, or a whole
            entry. Default: 'fields'. Example: fields.
        content_encoding (str | Unset): The compression of the body: `gzip` or `zstd`. Example:
            identity.
        idempotency_key (str | Unset):  Example: batch-17.
        producer_id (str | Unset):  Example: timing-gate-1.
        producer_epoch (int | Unset):  Example: 1.
        producer_layout (str | Unset):  Example: 4 partitions.
        tailrace_trace (ImportEntriesTailraceTrace | Unset):  Example: entry.
        traceparent (str | Unset):  Example:
            00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
        min_replicas (str | Unset):  Example: 1.
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        key=key,
        client=client,
        body=body,
        shape=shape,
        content_encoding=content_encoding,
        idempotency_key=idempotency_key,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        producer_layout=producer_layout,
        tailrace_trace=tailrace_trace,
        traceparent=traceparent,
        min_replicas=min_replicas,
    ).parsed


async def asyncio_detailed(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    body: File,
    shape: ImportEntriesShape | Unset = "fields",
    content_encoding: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    producer_id: str | Unset = UNSET,
    producer_epoch: int | Unset = UNSET,
    producer_layout: str | Unset = UNSET,
    tailrace_trace: ImportEntriesTailraceTrace | Unset = UNSET,
    traceparent: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Append the lines of an NDJSON body

     Append one entry for each line: all of them or none. Blank lines are ignored. O(bytes).

    With an idempotency key, a repeated request must have the same bytes as the first one, including
    their
    compression.

    Args:
        key (str):  Example: race:france.
        shape (ImportEntriesShape | Unset): What each line contains: only the fields, or a whole
            entry. Default: 'fields'. Example: fields.
        content_encoding (str | Unset): The compression of the body: `gzip` or `zstd`. Example:
            identity.
        idempotency_key (str | Unset):  Example: batch-17.
        producer_id (str | Unset):  Example: timing-gate-1.
        producer_epoch (int | Unset):  Example: 1.
        producer_layout (str | Unset):  Example: 4 partitions.
        tailrace_trace (ImportEntriesTailraceTrace | Unset):  Example: entry.
        traceparent (str | Unset):  Example:
            00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
        min_replicas (str | Unset):  Example: 1.
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        key=key,
        body=body,
        shape=shape,
        content_encoding=content_encoding,
        idempotency_key=idempotency_key,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        producer_layout=producer_layout,
        tailrace_trace=tailrace_trace,
        traceparent=traceparent,
        min_replicas=min_replicas,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    key: str,
    *,
    client: AuthenticatedClient | Client,
    body: File,
    shape: ImportEntriesShape | Unset = "fields",
    content_encoding: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    producer_id: str | Unset = UNSET,
    producer_epoch: int | Unset = UNSET,
    producer_layout: str | Unset = UNSET,
    tailrace_trace: ImportEntriesTailraceTrace | Unset = UNSET,
    traceparent: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
) -> Any | Problem | None:
    """Append the lines of an NDJSON body

     Append one entry for each line: all of them or none. Blank lines are ignored. O(bytes).

    With an idempotency key, a repeated request must have the same bytes as the first one, including
    their
    compression.

    Args:
        key (str):  Example: race:france.
        shape (ImportEntriesShape | Unset): What each line contains: only the fields, or a whole
            entry. Default: 'fields'. Example: fields.
        content_encoding (str | Unset): The compression of the body: `gzip` or `zstd`. Example:
            identity.
        idempotency_key (str | Unset):  Example: batch-17.
        producer_id (str | Unset):  Example: timing-gate-1.
        producer_epoch (int | Unset):  Example: 1.
        producer_layout (str | Unset):  Example: 4 partitions.
        tailrace_trace (ImportEntriesTailraceTrace | Unset):  Example: entry.
        traceparent (str | Unset):  Example:
            00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
        min_replicas (str | Unset):  Example: 1.
        body (File):

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
            body=body,
            shape=shape,
            content_encoding=content_encoding,
            idempotency_key=idempotency_key,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            producer_layout=producer_layout,
            tailrace_trace=tailrace_trace,
            traceparent=traceparent,
            min_replicas=min_replicas,
        )
    ).parsed
