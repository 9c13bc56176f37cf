from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.tail_streams_encoding import (
    TailStreamsEncoding,
)
from ...models.tail_streams_shape import TailStreamsShape
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    stream: list[str],
    after: list[str] | Unset = UNSET,
    group: str | Unset = UNSET,
    consumer: str | Unset = UNSET,
    claim_min_idle_ms: int | Unset = UNSET,
    prefetch: int | Unset = 100,
    noack: bool | Unset = False,
    shape: TailStreamsShape | Unset = "fields",
    encoding: TailStreamsEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id

    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    params: dict[str, Any] = {}

    json_stream = stream

    params["stream"] = json_stream

    json_after: list[str] | Unset = UNSET
    if not isinstance(after, Unset):
        json_after = after

    params["after"] = json_after

    params["group"] = group

    params["consumer"] = consumer

    params["claim_min_idle_ms"] = claim_min_idle_ms

    params["prefetch"] = prefetch

    params["noack"] = noack

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
        "url": "/v1/tail",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | str | None:
    if response.status_code == 200:
        response_200 = response.text
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
) -> Response[Problem | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    stream: list[str],
    after: list[str] | Unset = UNSET,
    group: str | Unset = UNSET,
    consumer: str | Unset = UNSET,
    claim_min_idle_ms: int | Unset = UNSET,
    prefetch: int | Unset = 100,
    noack: bool | Unset = False,
    shape: TailStreamsShape | Unset = "fields",
    encoding: TailStreamsEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Problem | str]:
    """Follow several streams

     Send the entries of several streams as Server-Sent Events.

    It works like `tail`, but each `entries` event is an object with `key`, `entries` and `next` of one
    stream. The
    `id` of an event has the positions of all streams, and which streams they were:
    `key=id~mark&key=id~mark`,
    with percent-encoded keys. A stream that is missing in `Last-Event-ID` starts at its `after`. The
    streams
    take turns.

    Args:
        stream (list[str]): The key of a stream, percent-encoded. Give it once for each stream.
            Example: ['race:france', 'race:usa'].
        after (list[str] | Unset): Send entries after this id. `$` (the default): only entries
            appended from now on. `+`: from the last entry on. With `group`: first send the consumer's
            own pending entries after this id (`0-0` for all of them); by default none of them. Give
            it once for all streams, or once for each stream, in the same order.
        group (str | Unset): Read as a consumer of this group. Percent-encoded. Example: judges.
        consumer (str | Unset): The consumer; created if it does not exist. Percent-encoded.
            Example: alice.
        claim_min_idle_ms (int | Unset): First claim entries that have been pending for any
            consumer at least this many milliseconds. Example: 60000.
        prefetch (int | Unset): How many entries of this tail can be unacknowledged at a time.
            Then the tail waits for acks. Default: 100. Example: 100.
        noack (bool | Unset): New entries do not become pending, and `prefetch` has no effect.
            Default: False. Example: False.
        shape (TailStreamsShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (TailStreamsEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        last_event_id (str | Unset): The `id:` of the last event that the client received. It
            overrides `after`. Browsers send it when they reconnect.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
    """

    kwargs = _get_kwargs(
        stream=stream,
        after=after,
        group=group,
        consumer=consumer,
        claim_min_idle_ms=claim_min_idle_ms,
        prefetch=prefetch,
        noack=noack,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        last_event_id=last_event_id,
        consistency=consistency,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    stream: list[str],
    after: list[str] | Unset = UNSET,
    group: str | Unset = UNSET,
    consumer: str | Unset = UNSET,
    claim_min_idle_ms: int | Unset = UNSET,
    prefetch: int | Unset = 100,
    noack: bool | Unset = False,
    shape: TailStreamsShape | Unset = "fields",
    encoding: TailStreamsEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Problem | str | None:
    """Follow several streams

     Send the entries of several streams as Server-Sent Events.

    It works like `tail`, but each `entries` event is an object with `key`, `entries` and `next` of one
    stream. The
    `id` of an event has the positions of all streams, and which streams they were:
    `key=id~mark&key=id~mark`,
    with percent-encoded keys. A stream that is missing in `Last-Event-ID` starts at its `after`. The
    streams
    take turns.

    Args:
        stream (list[str]): The key of a stream, percent-encoded. Give it once for each stream.
            Example: ['race:france', 'race:usa'].
        after (list[str] | Unset): Send entries after this id. `$` (the default): only entries
            appended from now on. `+`: from the last entry on. With `group`: first send the consumer's
            own pending entries after this id (`0-0` for all of them); by default none of them. Give
            it once for all streams, or once for each stream, in the same order.
        group (str | Unset): Read as a consumer of this group. Percent-encoded. Example: judges.
        consumer (str | Unset): The consumer; created if it does not exist. Percent-encoded.
            Example: alice.
        claim_min_idle_ms (int | Unset): First claim entries that have been pending for any
            consumer at least this many milliseconds. Example: 60000.
        prefetch (int | Unset): How many entries of this tail can be unacknowledged at a time.
            Then the tail waits for acks. Default: 100. Example: 100.
        noack (bool | Unset): New entries do not become pending, and `prefetch` has no effect.
            Default: False. Example: False.
        shape (TailStreamsShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (TailStreamsEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        last_event_id (str | Unset): The `id:` of the last event that the client received. It
            overrides `after`. Browsers send it when they reconnect.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
    """

    return sync_detailed(
        client=client,
        stream=stream,
        after=after,
        group=group,
        consumer=consumer,
        claim_min_idle_ms=claim_min_idle_ms,
        prefetch=prefetch,
        noack=noack,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        last_event_id=last_event_id,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    stream: list[str],
    after: list[str] | Unset = UNSET,
    group: str | Unset = UNSET,
    consumer: str | Unset = UNSET,
    claim_min_idle_ms: int | Unset = UNSET,
    prefetch: int | Unset = 100,
    noack: bool | Unset = False,
    shape: TailStreamsShape | Unset = "fields",
    encoding: TailStreamsEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Problem | str]:
    """Follow several streams

     Send the entries of several streams as Server-Sent Events.

    It works like `tail`, but each `entries` event is an object with `key`, `entries` and `next` of one
    stream. The
    `id` of an event has the positions of all streams, and which streams they were:
    `key=id~mark&key=id~mark`,
    with percent-encoded keys. A stream that is missing in `Last-Event-ID` starts at its `after`. The
    streams
    take turns.

    Args:
        stream (list[str]): The key of a stream, percent-encoded. Give it once for each stream.
            Example: ['race:france', 'race:usa'].
        after (list[str] | Unset): Send entries after this id. `$` (the default): only entries
            appended from now on. `+`: from the last entry on. With `group`: first send the consumer's
            own pending entries after this id (`0-0` for all of them); by default none of them. Give
            it once for all streams, or once for each stream, in the same order.
        group (str | Unset): Read as a consumer of this group. Percent-encoded. Example: judges.
        consumer (str | Unset): The consumer; created if it does not exist. Percent-encoded.
            Example: alice.
        claim_min_idle_ms (int | Unset): First claim entries that have been pending for any
            consumer at least this many milliseconds. Example: 60000.
        prefetch (int | Unset): How many entries of this tail can be unacknowledged at a time.
            Then the tail waits for acks. Default: 100. Example: 100.
        noack (bool | Unset): New entries do not become pending, and `prefetch` has no effect.
            Default: False. Example: False.
        shape (TailStreamsShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (TailStreamsEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        last_event_id (str | Unset): The `id:` of the last event that the client received. It
            overrides `after`. Browsers send it when they reconnect.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
    """

    kwargs = _get_kwargs(
        stream=stream,
        after=after,
        group=group,
        consumer=consumer,
        claim_min_idle_ms=claim_min_idle_ms,
        prefetch=prefetch,
        noack=noack,
        shape=shape,
        encoding=encoding,
        filter_=filter_,
        last_event_id=last_event_id,
        consistency=consistency,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    stream: list[str],
    after: list[str] | Unset = UNSET,
    group: str | Unset = UNSET,
    consumer: str | Unset = UNSET,
    claim_min_idle_ms: int | Unset = UNSET,
    prefetch: int | Unset = 100,
    noack: bool | Unset = False,
    shape: TailStreamsShape | Unset = "fields",
    encoding: TailStreamsEncoding | Unset = UNSET,
    filter_: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Problem | str | None:
    """Follow several streams

     Send the entries of several streams as Server-Sent Events.

    It works like `tail`, but each `entries` event is an object with `key`, `entries` and `next` of one
    stream. The
    `id` of an event has the positions of all streams, and which streams they were:
    `key=id~mark&key=id~mark`,
    with percent-encoded keys. A stream that is missing in `Last-Event-ID` starts at its `after`. The
    streams
    take turns.

    Args:
        stream (list[str]): The key of a stream, percent-encoded. Give it once for each stream.
            Example: ['race:france', 'race:usa'].
        after (list[str] | Unset): Send entries after this id. `$` (the default): only entries
            appended from now on. `+`: from the last entry on. With `group`: first send the consumer's
            own pending entries after this id (`0-0` for all of them); by default none of them. Give
            it once for all streams, or once for each stream, in the same order.
        group (str | Unset): Read as a consumer of this group. Percent-encoded. Example: judges.
        consumer (str | Unset): The consumer; created if it does not exist. Percent-encoded.
            Example: alice.
        claim_min_idle_ms (int | Unset): First claim entries that have been pending for any
            consumer at least this many milliseconds. Example: 60000.
        prefetch (int | Unset): How many entries of this tail can be unacknowledged at a time.
            Then the tail waits for acks. Default: 100. Example: 100.
        noack (bool | Unset): New entries do not become pending, and `prefetch` has no effect.
            Default: False. Example: False.
        shape (TailStreamsShape | Unset): `fields`: return fields as an object, or as pairs if a
            name repeats. `pairs`: always return pairs. Default: 'fields'. Example: fields.
        encoding (TailStreamsEncoding | Unset): `base64`: return all names and values in base64.
            Example: base64.
        filter_ (str | Unset): Only entries that match this condition, in a subset of CEL:
            `fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.
            Example: fields.status == "failed".
        last_event_id (str | Unset): The `id:` of the last event that the client received. It
            overrides `after`. Browsers send it when they reconnect.
        consistency (str | Unset):  Example: eventual.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
    """

    return (
        await asyncio_detailed(
            client=client,
            stream=stream,
            after=after,
            group=group,
            consumer=consumer,
            claim_min_idle_ms=claim_min_idle_ms,
            prefetch=prefetch,
            noack=noack,
            shape=shape,
            encoding=encoding,
            filter_=filter_,
            last_event_id=last_event_id,
            consistency=consistency,
        )
    ).parsed
