"""The dashboard, the alert rules and the operations page against a real scrape: they name only existing
metrics, and explain every metric."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.engines import ENGINE_FIGURES
from tests.support.server_process import ServerProcess

ROOT: Final = Path(__file__).parents[2]
DASHBOARD: Final = ROOT / "docker/grafana/dashboards/tailrace.json"
PROMETHEUS: Final = ROOT / "docker/prometheus"
PAGE: Final = (ROOT / "docs/operations.md").read_text()
GIVEN_BY_PROMETHEUS: Final = {"up"}
ROW: Final = re.compile(r"^\| `((?:tailrace|process|python)_\w+)` \| (.*?) \|", re.MULTILINE)
INTERVALS: Final = {"$__rate_interval": "5m"}


def samples_of(kind: str, name: str) -> set[str]:
    """The names by which a figure can be asked for."""
    if kind == "histogram":
        return {f"{name}_{part}" for part in ("bucket", "sum", "count")}
    return {f"{name}_total" if kind == "counter" else name}


@pytest.fixture(scope="module")
def families(server: ServerProcess) -> dict[str, str]:
    """The kind of each figure, by the name that a page gives it."""
    text = httpx.get(f"{server.base_url}/metrics").text
    found = {family.name: family.type for family in text_string_to_metric_families(text)}
    return {f"{name}_total" if kind == "counter" else name: kind for name, kind in found.items()}


@pytest.fixture(scope="module")
def names(families: dict[str, str]) -> set[str]:
    return {
        sample for name, kind in families.items() for sample in samples_of(kind, name.removesuffix("_total"))
    }


def figures_in(expression: str) -> set[str]:
    """Raises `ValueError` if the expression is not PromQL."""
    for variable, value in INTERVALS.items():
        expression = expression.replace(variable, value)
    found: set[str] = set()

    def note(node: Any) -> None:
        selector = node.vector_selector if isinstance(node, promql_parser.MatrixSelector) else node
        if isinstance(selector, promql_parser.VectorSelector):
            assert selector.name is not None
            found.add(selector.name)

    promql_parser.walk(promql_parser.parse(expression), note)
    assert found, expression
    return found


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return found


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard_expressions() -> Iterator[str]:
    for panel in panels():
        yield from (target["expr"] for target in panel.get("targets", ()))


@pytest.mark.parametrize("expression", list(dashboard_expressions()))
def test_every_figure_of_the_dashboard_exists(expression: str, names: set[str]) -> None:
    assert figures_in(expression) <= names


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_every_figure_of_an_alert_exists_and_the_page_says_what_to_do(
    alert: dict[str, Any], names: set[str]
) -> None:
    assert figures_in(alert["expr"]) <= names | ENGINE_FIGURES | GIVEN_BY_PROMETHEUS
    severity = alert["labels"]["severity"]
    section = PAGE.partition(f"\n### {alert['alert']}\n\n")[2]
    assert section.startswith(f"{severity.capitalize()}. "), alert["alert"]
    assert set(alert["annotations"]) == {"summary", "description"}


def test_the_page_explains_no_alert_that_is_not_there() -> None:
    assert re.findall(r"^### (Tailrace\w+)$", PAGE, re.MULTILINE) == [alert["alert"] for alert in alerts()]


def test_the_page_explains_every_figure_and_no_other(families: dict[str, str]) -> None:
    explained = [name for name, _ in ROW.findall(PAGE)]
    assert sorted(explained) == sorted({*families, *ENGINE_FIGURES})


def test_the_page_names_the_labels_of_each_figure(server: ServerProcess) -> None:
    httpx.put(f"{server.base_url}/v1/streams/labels/groups/g", json={"after": "0", "create_stream": True})
    text = httpx.get(f"{server.base_url}/metrics").text
    explained = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in ROW.findall(PAGE)}
    for family in text_string_to_metric_families(text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == explained[name], name


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_prometheus_is_told_of_the_rules_and_of_the_server() -> None:
    settings = yaml.safe_load((PROMETHEUS / "prometheus.yaml").read_text())
    assert [(PROMETHEUS / name).is_file() for name in settings["rule_files"]] == [True]
    (job,) = settings["scrape_configs"]
    assert (job["job_name"], job["metrics_path"]) == ("tailrace", "/metrics")


def test_the_compose_file_mounts_what_is_there_and_opens_loopback_only() -> None:
    services = yaml.safe_load((ROOT / "docker/compose.monitoring.yaml").read_text())["services"]
    assert set(services) == {"prometheus", "grafana"}
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        mounted = [volume.partition(":")[0] for volume in service["volumes"] if volume.startswith("./")]
        assert all((ROOT / "docker" / name).is_dir() for name in mounted)
