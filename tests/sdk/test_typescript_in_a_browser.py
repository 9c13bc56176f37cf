"""The compiled TypeScript SDK in a real browser, on a page of another origin than the server's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.browser import browsing
from tests.support.server_process import running_server
from tests.support.site import serving_files
from tests.support.tokens import ALL_SCOPES, make_token
from tests.support.typescript import PACKAGE, built, bundled

pytestmark = pytest.mark.usefixtures("typescript_package")

PAGE = PACKAGE.parents[1] / "docs/typescript.md"

SCRIPT = """
(async () => {
  const { Tailrace } = await import("/node_modules/tailrace-client/dist/index.js");
  const tailrace = new Tailrace({ url: "%(url)s", token: "%(token)s" });
  const stream = tailrace.stream("race:\\u00e9");
  await stream.group("judges").create({ after: "0", createStream: true });
  await stream.append({ rider: "Castilla" }, { idempotencyKey: "first" });
  await stream.appendMany([{ rider: "Norem" }, { rider: "Prickett" }]);
  const riders = async (entries) => {
    const seen = [];
    for await (const entry of entries) {
      seen.push(entry.fields.rider);
      if (entry.ack) await entry.ack();
      if (seen.length === 3) break;
    }
    return seen;
  };
  const seen = {
    read: await riders(stream.read()),
    tail: await riders(stream.tail({ after: "0" })),
    subscribe: await riders(stream.subscribe({ after: "0", credit: 1 })),
    consume: await riders(stream.group("judges").consume({ consumer: "alice", credit: 2 })),
    pending: (await stream.group("judges").pendingSummary()).count,
    refusal: await stream.append({ a: "1" }, { id: "1-0" }).catch((error) => error.code),
  };
  tailrace.close();
  return seen;
})()
"""


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The origin of a site that has the package where npm would install it, and the files of `folder`."""
    installed = folder / "node_modules/tailrace-client"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(built())
    with serving_files(folder) as origin:
        yield origin


def test_a_page_of_an_allowed_origin_reads_follows_subscribes_and_consumes_with_a_token(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    token = make_token(tmp_path / "tokens.json", *ALL_SCOPES)
    with site(folder) as origin:
        (folder / "index.html").write_text("<!doctype html><title>A page</title>")
        options = ("--allowed-origin", origin, "--tokens-file", str(tmp_path / "tokens.json"))
        with running_server(tmp_path, *options) as server, browsing(origin, tmp_path / "profile") as page:
            seen = page.evaluate(SCRIPT % {"url": server.base_url, "token": token})
    riders = ["Castilla", "Norem", "Prickett"]
    assert seen == {
        "read": riders,
        "tail": riders,
        "subscribe": riders,
        "consume": riders,
        "pending": 0,
        "refusal": "ID_NOT_GREATER",
    }


def test_the_page_of_the_docs_shows_entries(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    [html] = re.findall(r"^```html\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert "location.origin" in html
    with site(folder) as origin, running_server(tmp_path, "--allowed-origin", origin) as server:
        document = html.replace("location.origin", f'"{server.base_url}"')
        (folder / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><body></body>{document}')
        entries = f"{server.base_url}/v1/streams/race:france/entries"
        httpx.post(entries, json={"fields": {"rider": "Castilla"}}).raise_for_status()
        with browsing(origin, tmp_path / "profile") as page:
            page.until("document.body.innerText.includes('Castilla')")


def test_the_example_page_appends_follows_and_consumes_with_the_bundle(tmp_path: Path) -> None:
    bundled()
    folder = tmp_path / "site"
    with site(folder) as origin, running_server(tmp_path, "--allowed-origin", origin) as server:
        address = f"{origin}/node_modules/tailrace-client/example/?server={server.base_url}"
        with browsing(address, tmp_path / "profile") as page:
            page.evaluate("document.querySelector('#order button').click()")
            page.until("document.querySelector('#entries').innerText.includes('tea')")
            page.until("document.querySelector('#done').innerText === 'tea'")
            page.evaluate("document.querySelector('#stop').click()")
            page.until("document.querySelector('#state').innerText === 'stopped'")
            assert page.evaluate("document.querySelector('#problem').innerText") == ""
            assert page.complaints == [], page.complaints
        group = httpx.get(f"{server.base_url}/v1/streams/orders/groups/kitchen").json()
        assert (group["pending"], group["lag"]) == (0, 0)


def test_the_bundle_has_the_size_that_the_page_says() -> None:
    stated = re.search(r"(\d+) kB, (\d+) kB gzipped", PAGE.read_text())
    measured = re.search(r"([\d.]+) kB, ([\d.]+) kB gzipped", bundled())
    assert stated
    assert measured
    assert [int(size) for size in stated.groups()] == [round(float(size)) for size in measured.groups()]
