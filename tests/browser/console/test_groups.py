"""Groups and pending entries in the console: each action does what its dialog says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.console import Console

GROUP = "judges"


@pytest.fixture
def key(request: pytest.FixtureRequest, console: Console) -> str:
    """The key of a stream with three entries that are pending for alice."""
    name = f"groups:{request.node.name}"
    console.append(name, [{"rider": rider} for rider in ("Castilla", "Norem", "Prickett")])
    console.command("XGROUP", "CREATE", name, GROUP, "0")
    console.command("XREADGROUP", "GROUP", GROUP, "alice", "STREAMS", name, ">")
    return name


def pending(console: Console, key: str) -> list[list[Any]]:
    rows: list[list[Any]] = console.command("XPENDING", key, GROUP, "-", "+", "10")
    return rows


def select_all(console: Console, key: str) -> None:
    console.open("pending", key=key, group=GROUP)
    console.until_text("3 pending entries shown")
    console.page.evaluate("document.querySelector('thead input').click()")
    console.until_text("3 entries selected")


def test_acknowledging_removes_entries_from_the_pending_list(console: Console, key: str) -> None:
    select_all(console, key)
    console.press("Acknowledge", ".actions")
    console.press("Acknowledge", "dialog")
    console.until_text("3 entries acknowledged")
    console.until_text("Nothing is pending")
    assert pending(console, key) == []


def test_a_returned_entry_has_no_owner(console: Console, key: str) -> None:
    select_all(console, key)
    console.press("Return", ".actions")
    console.press("Return", "dialog")
    console.until_text("3 entries returned to the group")
    console.until_text("nobody (returned)")
    assert {row[1] for row in pending(console, key)} == {""}


def test_a_claimed_entry_belongs_to_the_named_consumer(console: Console, key: str) -> None:
    select_all(console, key)
    console.press("Claim", ".actions")
    console.fill("Consumer", "bob", "dialog")
    console.press("Claim", "dialog")
    console.until_text("3 entries are pending for bob now")
    assert {row[1] for row in pending(console, key)} == {"bob"}


def test_dead_letters_are_moved_with_their_origin_and_redriven(console: Console, key: str) -> None:
    ids = [row[0] for row in pending(console, key)]
    select_all(console, key)
    console.press("To dead letters", ".actions")
    console.fill("Reason", "cannot be judged", "dialog")
    console.press("Move", "dialog")
    console.until_text("3 entries moved to")
    assert pending(console, key) == []
    letters = console.command("XRANGE", f"{key}:dead", "-", "+")
    assert letters[0][1][:10] == [
        *("origin_stream", key, "origin_group", GROUP, "origin_id", ids[0]),
        *("deliveries", "1", "last_error", "cannot be judged"),
    ]
    console.open("pending", key=key, group=GROUP)
    console.press("Redrive")
    console.until_text("3 dead letters appended to this stream again")
    assert console.command("XLEN", f"{key}:dead") == 0
    entries = console.command("XRANGE", key, "-", "+")
    assert [fields for _, fields in entries[3:]] == [fields for _, fields in entries[:3]]


def test_pending_entries_are_filtered_by_consumer_and_deliveries(console: Console, key: str) -> None:
    first = pending(console, key)[0][0]
    console.command("XCLAIM", key, GROUP, "bob", "0", first)
    console.open("pending", key=key, group=GROUP, consumer="bob")
    console.until_text("1 pending entry shown")
    console.open("pending", key=key, group=GROUP, deliveries="2")
    console.until_text("1 pending entry shown")
    assert first in console.text("tbody")


def test_a_group_is_created_moved_with_a_preview_and_deleted(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.fill("Name of the new group", "medics")
    console.press("Create group")
    console.until_text("The group medics exists now.")
    console.open("groups", key=key, group="medics")
    console.press("Set position")
    ids = [entry[0] for entry in console.command("XRANGE", key, "-", "+")]
    console.page.until("document.querySelector('dialog input')")
    console.page.evaluate("document.querySelector('dialog input').focus()")
    console.page.write(ids[1])
    console.until_text("The group would receive 1 entry of 3.", "dialog")
    console.press("Set position", "dialog")
    console.until_text(f"The group medics is at {ids[1]} now.")
    console.press("Delete group")
    console.fill("Type medics to confirm", "medics", "dialog")
    console.press("Delete the group", "dialog")
    console.page.until("!document.querySelector('table').textContent.includes('medics')")
    assert len(console.command("XINFO", "GROUPS", key)) == 1


def test_deleting_a_group_says_what_is_pending_and_asks_for_its_name(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Delete group")
    console.until_text("3 entries are pending in this group.", "dialog")
    console.fill(f"Type {GROUP} to confirm", "jud", "dialog")
    off = "[...document.querySelectorAll('dialog button')].at(-1).ariaDisabled"
    assert console.page.evaluate(off) == "true"
    console.press("Cancel", "dialog")
    assert len(console.command("XINFO", "GROUPS", key)) == 1


def test_lag_is_plotted_over_time_with_a_table(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.page.until("document.querySelectorAll('.plots svg').length === 3")
    rows = "document.querySelectorAll('.plots figure:first-child table tbody tr').length"
    assert console.page.until(f"{rows} >= 2 && {rows}") >= 2
