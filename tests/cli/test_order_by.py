"""`tailrace configure --order-by`: the order by key of a group."""

from __future__ import annotations

import httpx
import msgspec

from tests.cli.shell import shell


def test_configure_sets_and_removes_the_order_of_a_group(base_url: str) -> None:
    path = f"{base_url}/v1/streams/cli:order/groups/g"
    assert httpx.put(path, json={"after": "0", "create_stream": True}).is_success
    state = msgspec.json.decode(shell(base_url, "configure", "cli:order", "g", "--order-by", "k").stdout)
    assert (state["order_by"], state["held"], state["keys_in_flight"]) == ("k", 0, 0)
    state = msgspec.json.decode(shell(base_url, "configure", "cli:order", "g", "--remove").stdout)
    assert {"order_by", "held", "keys_in_flight"}.isdisjoint(state)
