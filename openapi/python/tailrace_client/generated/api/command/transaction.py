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
    body: list[list[Base64Argument | bool | float | str]],
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
        "url": "/v1/command/multi-exec",
    }

    _kwargs["json"] = []
    for componentsschemas_commands_body_item_data in body:
        componentsschemas_commands_body_item = []
        for componentsschemas_command_body_item_data in componentsschemas_commands_body_item_data:
            componentsschemas_command_body_item: bool | dict[str, Any] | float | str
            if isinstance(componentsschemas_command_body_item_data, Base64Argument):
                componentsschemas_command_body_item = componentsschemas_command_body_item_data.to_dict()
            else:
                componentsschemas_command_body_item = componentsschemas_command_body_item_data
            componentsschemas_commands_body_item.append(componentsschemas_command_body_item)

        _kwargs["json"].append(componentsschemas_commands_body_item)

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
    body: list[list[Base64Argument | bool | float | str]],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Run Redis commands as a transaction

     Run several Redis commands as one atomic step, like MULTI and EXEC.

    `BLOCK` does not wait. If a command is unknown, has a wrong number of arguments (400) or is not
    allowed
    (403), no command runs, and `error` is that of Redis's EXEC. Any other error, such as an invalid
    argument,
    is in the place of its command, and the others still run; so is the error of a read whose reply does
    not
    fit next to those before it (`reply_bytes_max`, see `GET /v1/limits`). If the commands together take
    too
    much work (413), or the memory limit forbids one of them (507), no command runs.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[list[Base64Argument | bool | float | str]]): Commands, run in this order.
            Example: [['XLEN', 'race:france'], ['XLEN', 'race:usa']].

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
    body: list[list[Base64Argument | bool | float | str]],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Run Redis commands as a transaction

     Run several Redis commands as one atomic step, like MULTI and EXEC.

    `BLOCK` does not wait. If a command is unknown, has a wrong number of arguments (400) or is not
    allowed
    (403), no command runs, and `error` is that of Redis's EXEC. Any other error, such as an invalid
    argument,
    is in the place of its command, and the others still run; so is the error of a read whose reply does
    not
    fit next to those before it (`reply_bytes_max`, see `GET /v1/limits`). If the commands together take
    too
    much work (413), or the memory limit forbids one of them (507), no command runs.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[list[Base64Argument | bool | float | str]]): Commands, run in this order.
            Example: [['XLEN', 'race:france'], ['XLEN', 'race:usa']].

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
    body: list[list[Base64Argument | bool | float | str]],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Run Redis commands as a transaction

     Run several Redis commands as one atomic step, like MULTI and EXEC.

    `BLOCK` does not wait. If a command is unknown, has a wrong number of arguments (400) or is not
    allowed
    (403), no command runs, and `error` is that of Redis's EXEC. Any other error, such as an invalid
    argument,
    is in the place of its command, and the others still run; so is the error of a read whose reply does
    not
    fit next to those before it (`reply_bytes_max`, see `GET /v1/limits`). If the commands together take
    too
    much work (413), or the memory limit forbids one of them (507), no command runs.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[list[Base64Argument | bool | float | str]]): Commands, run in this order.
            Example: [['XLEN', 'race:france'], ['XLEN', 'race:usa']].

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
    body: list[list[Base64Argument | bool | float | str]],
    upstash_encoding: str | Unset = UNSET,
    min_replicas: str | Unset = UNSET,
    consistency: str | Unset = UNSET,
) -> Any | Problem | None:
    """Run Redis commands as a transaction

     Run several Redis commands as one atomic step, like MULTI and EXEC.

    `BLOCK` does not wait. If a command is unknown, has a wrong number of arguments (400) or is not
    allowed
    (403), no command runs, and `error` is that of Redis's EXEC. Any other error, such as an invalid
    argument,
    is in the place of its command, and the others still run; so is the error of a read whose reply does
    not
    fit next to those before it (`reply_bytes_max`, see `GET /v1/limits`). If the commands together take
    too
    much work (413), or the memory limit forbids one of them (507), no command runs.

    Args:
        upstash_encoding (str | Unset): `base64`: return all strings of the reply in base64,
            except the status `OK`. Example: base64.
        min_replicas (str | Unset):  Example: 1.
        consistency (str | Unset):  Example: eventual.
        body (list[list[Base64Argument | bool | float | str]]): Commands, run in this order.
            Example: [['XLEN', 'race:france'], ['XLEN', 'race:usa']].

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
