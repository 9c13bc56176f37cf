"""What must hold through the balancer of a stack: requests, waiting readers, and a killed gateway or node.

Owns the clients. It prints each fact that it has checked.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import httpx
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.release.stack_processes import WITHIN_S, Processes

APPENDS: Final = 300
KILLED_AFTER: Final = 60
RESTARTED_AFTER_S: Final = 20.0
"""Longer than a replica needs to be promoted."""

KEY: Final = "race:stack"
SUBPROTOCOL: Final = Subprotocol("tailrace.v1.json")
ENTRIES: Final = f"/v1/streams/{KEY}/entries"


def check(processes: Processes, url: str, token: str) -> None:
    """Check everything. Raises `AssertionError` at the first thing that does not hold."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=WITHIN_S) as client:
        check_requests(client)
        check_readers(client, url, token)
        check_killed(processes, client, "gateway-2")
        check_killed(processes, client, master_of(processes))
        until(all_ready, "all gateways are ready again")
    say("all gateways are ready again, and no log has a traceback")
    for name in ("gateway-1", "gateway-2", "gateway-3"):
        assert "Traceback" not in processes.log_of(name), processes.log_of(name)


def say(fact: str) -> None:
    """Print a fact that holds."""
    print(f"ok  {fact}", flush=True)  # noqa: T201 - the program's output


def until(holds: Callable[[], bool], what: str) -> None:
    """Return when `holds` returns True."""
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {WITHIN_S} s: {what}"
        time.sleep(0.05)


def all_ready() -> bool:
    """Whether every gateway answers that it is ready."""
    return all(httpx.get(f"http://127.0.2.{n}:8080/readyz").status_code == 200 for n in (1, 2, 3))


def check_requests(client: httpx.Client) -> None:
    """Requests with and without a token, and keys with any bytes."""
    assert client.get("/readyz").status_code == 200
    assert httpx.post(f"{client.base_url}{ENTRIES}", json={"fields": {}}).status_code == 401
    for key in (KEY, "a%2Fb", "%FF%01"):
        appended = client.post(f"/v1/streams/{key}/entries", json={"fields": {"rider": "Castilla"}})
        assert appended.status_code == 201, appended.text
        [entry] = client.get(f"/v1/streams/{key}/entries").json()["entries"]
        assert entry["id"] == appended.json()["id"]
    big = client.post(ENTRIES, json={"fields": {"f": "v" * 900_000}})
    assert big.status_code == 201, big.text
    say("requests reach a gateway through the balancer: tokens, keys with odd bytes, large bodies")


def check_readers(client: httpx.Client, url: str, token: str) -> None:
    """A waiting read, Server-Sent Events and a WebSocket receive an append at once."""
    last = client.post(ENTRIES, json={"fields": {"rider": "Norem"}}).json()["id"]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.get, ENTRIES, params={"after": last, "wait_ms": 50_000})
        event = pool.submit(_first_event, client, last)
        message = pool.submit(_first_message, url.replace("http", "ws"), token, last)
        # A reader that arrives later than the append reads it at once.
        appended = client.post(ENTRIES, json={"fields": {"rider": "Prickett"}}).json()["id"]
        [entry] = waiting.result(WITHIN_S).json()["entries"]
        assert entry["id"] == appended
        say("a waiting read is answered through the balancer")
        assert appended in event.result(WITHIN_S)
        say("Server-Sent Events pass the balancer at once")
        assert appended in message.result(WITHIN_S)
        say("a WebSocket receives an append through the balancer")


def _first_event(client: httpx.Client, after: str) -> str:
    with client.stream("GET", "/v1/tail", params={"stream": KEY, "after": after}) as response:
        assert response.status_code == 200, response.read()
        return next(line for line in response.iter_lines() if '"entries"' in line)


def _first_message(url: str, token: str, after: str) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    with connect(f"{url}/v1/ws", additional_headers=headers, subprotocols=[SUBPROTOCOL]) as socket:
        streams = [{"key": KEY, "after": after}]
        socket.send(json.dumps({"id": 1, "op": "subscribe", "streams": streams, "credit": 100}))
        while '"entries"' not in (text := str(socket.recv(WITHIN_S))):
            pass
        return text


def master_of(processes: Processes) -> str:
    """Return the node that serves the slot of the stream."""
    slot = processes.run_once("redis-cli", "-h", "node-1", "cluster", "keyslot", KEY).strip()
    for n in range(1, 7):
        lines = processes.run_once("redis-cli", "-h", f"node-{n}", "cluster", "nodes").splitlines()
        [own] = [line.split() for line in lines if "myself" in line]
        ranges = [each.partition("-") for each in own[8:] if "[" not in each]
        if "master" in own[2] and any(int(low) <= int(slot) <= int(high or low) for low, _, high in ranges):
            return f"node-{n}"
    raise AssertionError(f"no master serves the slot {slot}")


def check_killed(processes: Processes, client: httpx.Client, victim: str) -> None:
    """Append with idempotency keys while a process is killed, and started again later as an engine restarts a
    container: each append is stored once."""
    restart = threading.Timer(RESTARTED_AFTER_S, processes.start_again, [victim])
    key = f"race:{victim}" if victim.startswith("gateway") else KEY
    before = length_of(client, key)
    errors = 0
    for number in range(APPENDS):
        if number == KILLED_AFTER:
            processes.kill(victim)
            restart.start()
        errors += append(client, key, f"{victim}-{number}")
    restart.join()
    assert length_of(client, key) - before == APPENDS
    say(f"{victim} killed: {APPENDS} appends with keys stored once, {errors} answers asked for another try")


def append(client: httpx.Client, key: str, name: str) -> int:
    """Append once, trying again as the answers say; return how many tries failed."""
    headers = {"Producer-Id": "stack", "Idempotency-Key": name}
    deadline = time.monotonic() + WITHIN_S
    for failures in range(10_000):
        assert time.monotonic() < deadline, f"the append {name} fails"
        try:
            answer = client.post(
                f"/v1/streams/{key}/entries", json={"fields": {"name": name}}, headers=headers
            )
        except httpx.TransportError:
            continue
        if answer.status_code in {200, 201}:
            return failures
        assert answer.status_code in {502, 503, 504}, answer.text
        time.sleep(0.05)
    raise AssertionError("too many tries")


def length_of(client: httpx.Client, key: str) -> int:
    """Return the length of a stream, 0 without it."""
    answer = client.get(f"/v1/streams/{key}")
    return int(answer.json()["length"]) if answer.status_code == 200 else 0
