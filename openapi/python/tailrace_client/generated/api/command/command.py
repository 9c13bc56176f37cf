from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.base_64_argument import Base64Argument
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: list[Base64Argument | bool | float | str],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(upstash_encoding, Unset):
        headers["Upstash-Encoding"] = upstash_encoding

    if not isinstance(min_replicas, Unset):
        headers["Min-Replicas"] = min_replicas

    if not isinstance(consistency, Unset):
        headers["Consistency"] = consistency

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/command",
    }

    _kwargs["json"] = []
    for componentsschemas_command_body_item_data in body:
        componentsschemas_command_body_item: bool | dict[str, Any] | float | str
        if isinstance(componentsschemas_command_body_item_data, Base64Argument):
            componentsschemas_command_body_item = componentsschemas_command_body_item_data.to_dict()
        else:
            componentsschemas_command_body_item = componentsschemas_command_body_item_data
        _kwargs["json"].append(componentsschemas_command_body_item)

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
    *,
    client: AuthenticatedClient | Client,
    body: list[Base64Argument | bool | float | str],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Run a Redis command

     Run one Redis command. The response is its RESP2 reply as JSON.

    `BLOCK` waits up to the server's limit. `SCAN` examines up to `scan_request_keys_max` keys (see
    `GET /v1/limits`); other requests are served meanwhile. An error is a problem whose member `error`
    is the
    exact error line of Redis.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[Base64Argument | bool | float | str]): A command as an array: its name, then
            its arguments. Each is a string, an object with base64, or a
            number or boolean, which means its text as it was sent. Example: ['XLEN', 'race:france'].

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        upstash_encoding=upstash_encoding,
        min_replicas=min_replicas,
        consistency=consistency,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: list[Base64Argument | bool | float | str],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Run a Redis command

     Run one Redis command. The response is its RESP2 reply as JSON.

    `BLOCK` waits up to the server's limit. `SCAN` examines up to `scan_request_keys_max` keys (see
    `GET /v1/limits`); other requests are served meanwhile. An error is a problem whose member `error`
    is the
    exact error line of Redis.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[Base64Argument | bool | float | str]): A command as an array: its name, then
            its arguments. Each is a string, an object with base64, or a
            number or boolean, which means its text as it was sent. Example: ['XLEN', 'race:france'].

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        upstash_encoding=upstash_encoding,
        min_replicas=min_replicas,
        consistency=consistency,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: list[Base64Argument | bool | float | str],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Run a Redis command

     Run one Redis command. The response is its RESP2 reply as JSON.

    `BLOCK` waits up to the server's limit. `SCAN` examines up to `scan_request_keys_max` keys (see
    `GET /v1/limits`); other requests are served meanwhile. An error is a problem whose member `error`
    is the
    exact error line of Redis.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[Base64Argument | bool | float | str]): A command as an array: its name, then
            its arguments. Each is a string, an object with base64, or a
            number or boolean, which means its text as it was sent. Example: ['XLEN', 'race:france'].

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        upstash_encoding=upstash_encoding,
        min_replicas=min_replicas,
        consistency=consistency,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: list[Base64Argument | bool | float | str],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Run a Redis command

     Run one Redis command. The response is its RESP2 reply as JSON.

    `BLOCK` waits up to the server's limit. `SCAN` examines up to `scan_request_keys_max` keys (see
    `GET /v1/limits`); other requests are served meanwhile. An error is a problem whose member `error`
    is the
    exact error line of Redis.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[Base64Argument | bool | float | str]): A command as an array: its name, then
            its arguments. Each is a string, an object with base64, or a
            number or boolean, which means its text as it was sent. Example: ['XLEN', 'race:france'].

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
            upstash_encoding=upstash_encoding,
            min_replicas=min_replicas,
            consistency=consistency,
        )
    ).parsed
