"""The Server view, the sizes of streams, and conditions on entries in the console."""

from __future__ import annotations

from tests.support.console import Console

MARKUP = "<img src=x onerror='window.hurt = 1'>"


def test_the_server_view_lists_the_largest_streams_and_the_audit_log(console: Console) -> None:
    console.append("server:large", [{"text": f"{number * 7919:x}" * 8} for number in range(5_000)])
    console.command("DEL", "server:gone")
    console.append(f"server:{MARKUP}", [{"n": "1"}])
    console.command("DEL", f"server:{MARKUP}")
    console.open("server")
    console.until_text("server:large", "[aria-label='Largest streams'] tbody")
    console.until_text(f"server:{MARKUP}", "[aria-label='Audit log'] tbody")
    first = console.text("[aria-label='Audit log'] tbody tr")
    assert "del" in first
    assert "anonymous" in first
    console.until_text("Durabilityalways")
    assert console.page.evaluate("window.hurt === undefined && !document.querySelector('main img')")
    assert console.page.complaints == []
    console.press("server:large", "[aria-label='Largest streams']")
    console.until_text("Follow live")


def test_the_size_of_a_stream_is_in_the_list_and_above_its_entries(console: Console) -> None:
    console.append("size:one", [{"rider": "Castilla"}])
    console.open(prefix="size:one")
    console.page.until("document.querySelector('[data-label=Size]').textContent === '20 B'")
    console.open("stream", key="size:one")
    console.until_text("Size20 B")


def test_a_condition_filters_the_range_and_the_live_tail(console: Console) -> None:
    key = "condition:race"
    console.append(key, [{"rider": "Norem", "speed": str(number)} for number in range(40)])
    console.open("stream", key=key)
    console.until_text("40 entries shown")
    console.select("How to filter", "condition")
    console.fill("Condition", 'double(fields.speed) > 29.5 && fields.rider == "Norem"')
    console.press("Filter")
    console.until_text("10 matches in 40 entries read, newest first; the whole range was searched")
    console.press("Follow live")
    console.page.until("document.querySelector('.live[data-open=true]')")
    console.append(key, [{"rider": "Norem", "speed": "3"}, {"rider": "Norem", "speed": "30"}])
    console.page.until("document.querySelector('.live').dataset.received === '1'")
    assert console.text("tbody").endswith("speed 30")


def test_an_invalid_condition_is_shown_with_the_place_of_the_error(console: Console) -> None:
    key = "condition:invalid"
    console.append(key, [{"rider": "Norem"}])
    console.open("stream", key=key, filter='fields.rider = "Norem"')
    console.until_text("the filter is not valid at character 14")
    console.until_text("             ^", "main > pre")


def test_a_field_filter_takes_any_name_and_value_as_text(console: Console) -> None:
    key = "condition:odd"
    odd = '"] == "" || true || fields["\\\n\u2028'
    console.append(key, [{odd: odd}, {"rider": "Norem"}])
    console.open("stream", key=key, field=odd, value=odd)
    console.until_text("1 match in 2 entries read")
    console.open("stream", key=key, field="rider", value='x" || "" == "')
    console.until_text("0 matches in 2 entries read")
