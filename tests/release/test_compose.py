"""The compose files: they are valid by the Compose specification, name only things that exist, open no port
to the network, and restrict the containers.

What an engine makes of them is not shown here. `make stack-test` runs the gateways' file without one.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from compose_spec import PyOptions

from tailrace.app.settings import ENVIRONMENT_PREFIX, Settings
from tests.support.dockerfile import ROOT, copied_from_the_context, instructions_of

FOLDER: Final = ROOT / "docker"
ALONE: Final = ("compose.yaml",)
WITH_SPARK: Final = ("compose.yaml", "compose.spark.yaml")
WITH_MONITORING: Final = ("compose.yaml", "compose.monitoring.yaml")
GATEWAYS: Final = ("compose.gateways.yaml",)
COMBINATIONS: Final = pytest.mark.parametrize(
    "files", [ALONE, WITH_SPARK, WITH_MONITORING, GATEWAYS], ids=["alone", "spark", "monitoring", "gateways"]
)
MADE_BY_HAND: Final = {"./tokens"}
"""Directories that the first lines of a compose file tell the reader to make."""
OURS: Final = ("tailrace", "spark-master", "spark-worker", "pipeline")
SECONDS: Final = "s"


def together(files: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Merge several files by section. No file changes a service of another file."""
    joined: dict[str, dict[str, Any]] = {}
    for file in files:
        for section, content in yaml.safe_load((FOLDER / file).read_text()).items():
            if isinstance(content, dict) and not section.startswith("x-"):
                assert not joined.get(section, {}).keys() & content.keys(), (file, section)
                joined.setdefault(section, {}).update(content)
    return joined


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return together(WITH_SPARK)["services"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("compose*.yaml")), ids=lambda path: path.name)
def test_a_file_is_valid_by_the_compose_specification(path: Path) -> None:
    PyOptions(apply_merge=True).from_yaml(path.read_text()).validate()


@pytest.mark.parametrize(
    "wrong",
    ["prots: ['1:1']", "healthcheck: {interval: soon}", "depends_on: {b: {condition: service_helthy}}"],
)
def test_a_file_with_a_wrong_member_is_found(wrong: str) -> None:
    with pytest.raises(ValueError, match="at line"):
        PyOptions().from_yaml(f"services:\n  a:\n    image: x\n    {wrong}\n")


@COMBINATIONS
def test_volumes_secrets_and_services_that_are_named_exist(files: tuple[str, ...]) -> None:
    compose = together(files)
    for service in compose["services"].values():
        named = {each.partition(":")[0] for each in service.get("volumes", ())}
        volumes = {each for each in named if not each.startswith(".")}
        assert volumes <= compose["volumes"].keys(), volumes
        assert all((FOLDER / each).exists() for each in named - volumes - MADE_BY_HAND)
        assert set(service.get("secrets", ())) <= compose.get("secrets", {}).keys()
        assert set(service.get("depends_on", ())) <= compose["services"].keys()


@COMBINATIONS
def test_ports_are_open_to_this_machine_only_and_each_once(files: tuple[str, ...]) -> None:
    ports = [port for each in together(files)["services"].values() for port in each.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.rpartition(":")[0] for port in ports}) == len(ports)


@pytest.mark.parametrize("name", OURS)
def test_a_service_gets_no_more_than_it_needs(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - a place in the container
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["init"] is True
    assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "user"}


@pytest.mark.parametrize("name", OURS)
def test_a_service_is_built_from_a_dockerfile_that_declares_its_volume(
    services: dict[str, Any], name: str
) -> None:
    build = services[name]["build"]
    context = (FOLDER / build["context"]).resolve()
    assert context == ROOT
    instructions = instructions_of(context / build.get("dockerfile", "Dockerfile"))
    declared = [each.plain for each in instructions if each.word == "VOLUME"]
    assert declared == [volume.partition(":")[2] for volume in services[name]["volumes"]]


def test_the_server_is_given_only_settings_that_it_knows(services: dict[str, Any]) -> None:
    named = services["tailrace"]["environment"].keys()
    assert {name.removeprefix(ENVIRONMENT_PREFIX).lower() for name in named} <= Settings.model_fields.keys()


def test_a_stop_waits_longer_than_the_server_takes_to_end_its_requests(services: dict[str, Any]) -> None:
    service = services["tailrace"]
    grace_s = service["environment"]["TAILRACE_SHUTDOWN_GRACE_S"]
    assert int(service["stop_grace_period"].removesuffix(SECONDS)) > grace_s


def test_the_pipeline_is_a_job_that_the_image_holds_and_that_takes_these_arguments(
    services: dict[str, Any],
) -> None:
    command = services["pipeline"]["command"]
    (place,) = (word for word in command if word.endswith(".py"))
    copies = copied_from_the_context(instructions_of(FOLDER / "spark.Dockerfile"))
    folders = {destination: sources[0] for sources, destination in copies if len(sources) == 1}
    folder, _, name = place.rpartition("/")
    job = ROOT / folders[folder] / name
    arguments = {word.partition("=")[0] for word in command[command.index(place) + 1 :]}
    known = {node.value for node in ast.walk(ast.parse(job.read_text())) if isinstance(node, ast.Constant)}
    assert arguments <= known


def test_secrets_are_files_that_neither_git_nor_an_image_ever_holds() -> None:
    files = {each["file"] for each in together(WITH_SPARK)["secrets"].values()}
    assert {Path(file).parent.as_posix() for file in files} == {"secrets"}
    assert "/docker/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert (ROOT / ".dockerignore").read_text().splitlines()[1] == "*"


@pytest.mark.parametrize("name", ["gateway-1", "gateway-2", "gateway-3"])
def test_a_gateway_gets_no_more_than_it_needs_and_keeps_nothing(name: str) -> None:
    service = together(GATEWAYS)["services"][name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp", "/data"]  # noqa: S108 - places in the container
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])
    names = {each.removeprefix(ENVIRONMENT_PREFIX).lower() for each in service["environment"]}
    assert names - {"store"} <= Settings.model_fields.keys()


def test_the_balancer_knows_each_gateway_of_the_compose_file_and_no_other() -> None:
    services = together(GATEWAYS)["services"]
    known = re.findall(r"server (gateway-\d+):8080", (FOLDER / "gateways/nginx.conf").read_text())
    assert known == [name for name in services if name.startswith("gateway-")]


def test_six_nodes_join_the_cluster_and_each_keeps_its_own_data() -> None:
    services = together(GATEWAYS)["services"]
    nodes = [name for name in services if name.startswith("node-")]
    assert len({services[name]["volumes"][0] for name in nodes}) == len(nodes) == 6
    assert services["cluster"]["depends_on"].keys() == set(nodes)
    (script,) = (word for word in services["cluster"]["command"] if "--cluster create" in word)
    assert "for n in 1 2 3 4 5 6;" in script
    assert "--cluster-replicas 1" in script
