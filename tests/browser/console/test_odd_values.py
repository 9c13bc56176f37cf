"""Odd names and values in the console: markup, large values, ids beyond 2^53, bytes that are no text."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.console import Console

MARKUP: Final = "<img src=x onerror='window.hurt = 1'><script>window.hurt = 1</script>\"'&{{7*7}}"
BEYOND: Final = "18446744073709551614-9007199254740993"


def base64(text: str) -> dict[str, str]:
    return {"base64": text}


def hurt(console: Console) -> bool:
    return bool(console.page.evaluate("window.hurt !== undefined"))


def test_markup_in_every_name_and_value_stays_text(console: Console) -> None:
    [entry_id] = console.append(MARKUP, [{MARKUP: MARKUP}])
    console.command("XGROUP", "CREATE", MARKUP, MARKUP, "0")
    console.command("XREADGROUP", "GROUP", MARKUP, MARKUP, "STREAMS", MARKUP, ">")
    for view in ("", "stream", "entry", "groups", "pending", "consume", "manage"):
        console.open(view, **({} if view == "" else {"key": MARKUP, "id": entry_id}))
        console.until_text(MARKUP)
        assert not hurt(console)
        assert console.page.evaluate("document.querySelector('main :is(img, script)')") is None
        assert console.page.complaints == []
    console.open("stream", key=MARKUP, field=MARKUP, value=MARKUP)
    console.until_text("1 match")
    console.open("command")
    console.fill("Command", "XRANGE nothing - + <img src=x onerror='window.hurt=1'>")
    console.press("Run")
    console.until_text("syntax error")
    assert not hurt(console)
    console.command("DEL", MARKUP)


def test_ids_and_numbers_beyond_2_to_the_53_keep_their_digits(console: Console) -> None:
    key = "odd:ids"
    console.command("XADD", key, BEYOND, "json", '{"id": 12345678901234567890, "list": [1e400, -0]}')
    console.command("XGROUP", "CREATE", key, "judges", "0")
    console.command("XREADGROUP", "GROUP", "judges", "alice", "STREAMS", key, ">")
    for view in ("stream", "pending", "groups", "entry"):
        console.open(view, key=key, id=BEYOND)
        console.until_text(BEYOND)
        assert console.page.complaints == []
    console.until_text("12345678901234567890")
    console.page.evaluate("document.querySelector('.json .members summary').click()")
    console.until_text("1e400", ".json")
    console.open()
    console.until_text(key)


def test_a_value_of_1_mb_is_cut_until_the_reader_asks_for_all(console: Console) -> None:
    key = "odd:large"
    text = "x" * 999_990 + "<b>end</b>"
    [entry_id] = console.append(key, [{"value": text}])
    console.open("stream", key=key)
    console.until_text(entry_id)
    assert len(console.text("table")) < 1_000
    console.open("entry", key=key, id=entry_id)
    console.press("Show all 1.0 MB")
    console.page.until(f"document.querySelector('.value pre').textContent.length === {len(text)}")
    assert console.page.evaluate("document.querySelector('.value pre').textContent.endsWith('<b>end</b>')")
    console.press("hex")
    console.until_text("000f4230", ".value pre")


@pytest.mark.parametrize("octets", ["/w==", "AP+A", "L2EvYg==", "JSUl", "8J+YgA=="])
def test_a_name_of_any_bytes_has_all_views(console: Console, octets: str) -> None:
    appended = console.command("XADD", base64(octets), "*", base64("/w=="), base64("/wA="))
    console.command("XGROUP", "CREATE", base64(octets), base64("/v8="), "0")
    console.command("XREADGROUP", "GROUP", base64("/v8="), base64("/A=="), "STREAMS", base64(octets), ">")
    parameters = {"key64": octets, "id": appended}
    for view, text in (
        ("stream", appended),
        ("entry", "ff 00"),
        ("groups", "\\xFE\\xFF"),
        ("pending", appended),
        ("produce", "Add a field"),
        ("manage", "1 entry in the stream"),
    ):
        console.open(view, **parameters)
        console.until_text(text)
        assert console.page.complaints == []
    console.open("stream", **parameters, live="1")
    console.page.until("document.querySelector('.live[data-open=true]')")
    later = console.command("XADD", base64(octets), "*", "n", "1")
    console.until_text(later)
    console.command("DEL", base64(octets))


def test_a_missing_stream_and_a_missing_entry_are_explained(console: Console) -> None:
    console.open("stream", key="odd:missing")
    console.until_text("This stream does not exist, or it was deleted.")
    console.append("odd:present", [{"n": "1"}])
    console.open("entry", key="odd:present", id="1-1")
    console.until_text("Try again")
    console.open("stream")
    console.until_text("This view needs the key of a stream.")
