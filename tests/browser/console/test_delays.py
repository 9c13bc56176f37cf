"""Delays in the console: entries that are appended later, and entries that are returned for later."""

from __future__ import annotations

import pytest

from tests.support.console import Console

GROUP = "judges"
HOUR_S = "3600"


@pytest.fixture
def key(request: pytest.FixtureRequest, console: Console) -> str:
    """The key of a stream with an entry that is pending for alice."""
    name = f"delays:{request.node.name}"
    console.append(name, [{"rider": "Castilla"}])
    console.command("XGROUP", "CREATE", name, GROUP, "0")
    console.command("XREADGROUP", "GROUP", GROUP, "alice", "STREAMS", name, ">")
    return name


def test_an_entry_with_a_delay_is_appended_later_listed_and_cancelled(console: Console, key: str) -> None:
    console.open("produce", key=key)
    console.page.until("document.querySelector('details') && (document.querySelector('details').open = true)")
    console.fill("Name of field 1", "rider")
    console.fill("Value of field 1", "Norem")
    console.fill("Delay (s)", "soon")
    assert console.button_is_off("Append") == "The delay must be a number of seconds."
    console.fill("Delay (s)", HOUR_S)
    console.press("Append")
    console.until_text("Scheduled for ")
    assert console.command("XLEN", key) == 1
    console.press("Scheduled", ".done")
    scheduled = "[aria-label='Scheduled entries']"
    console.until_text("1 entry, next one first.", scheduled)
    console.until_text("rider Norem", scheduled)
    console.until_text("in 60 min", scheduled)
    assert console.violations() == []
    console.press("Cancel", scheduled)
    console.until_text("Cancelled: the entry is not appended.", scheduled)
    console.until_text("None. An entry that is appended with a delay waits here", scheduled)
    assert console.http.get(f"/v1/streams/{key}/scheduled").json()["scheduled"] == []


def test_an_entry_is_returned_for_later(console: Console, key: str) -> None:
    console.open("pending", key=key, group=GROUP)
    console.until_text("1 pending entry shown")
    console.page.evaluate("document.querySelector('thead input').click()")
    console.press("Return", ".actions")
    console.fill("Not again before (s)", "soon", "dialog")
    console.until_text("The delay must be a number of seconds.", "dialog")
    console.fill("Not again before (s)", HOUR_S, "dialog")
    console.press("Return", "dialog")
    console.until_text("1 entry returned to the group.")
    console.until_text("nobody (returned), again in 60 min")
    claimed = console.command("XAUTOCLAIM", key, GROUP, "bob", 0, "0")
    assert claimed[1] == []


def test_the_backoff_of_a_group_is_set_by_its_parts(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Change settings")
    console.fill("backoff.initial_ms", "1000", "dialog")
    console.fill("backoff.factor", "1.5", "dialog")
    console.press("Apply", "dialog")
    console.until_text("apply from the next delivery on")
    console.until_text("Backoffinitial 1.0 s, factor 1.5, max 60 min", ".settings")
    group = console.http.get(f"/v1/streams/{key}/groups/{GROUP}").json()
    assert group["backoff"] == {"initial_ms": 1000, "factor": 1.5, "max_ms": 3_600_000}
    console.press("Change settings")
    for part in ("initial_ms", "factor", "max_ms"):
        console.fill(f"backoff.{part}", " ", "dialog")
        console.page.press("Backspace")
    console.press("Apply", "dialog")
    console.until_text("None: the group delivers an entry until a consumer acknowledges it.")
