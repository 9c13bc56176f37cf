"""Each distribution works after its installation into an empty environment."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import httpx
import msgspec
import pytest

from tailrace import app
from tests.support.distributions import Environment, Release, environment_with, finished, outside
from tests.support.server_process import running_server

SERVERS_OWN: Final = {"tailrace", "fastapi", "starlette", "uvicorn", "pydantic", "sortedcontainers", "typer"}
CLUSTERS_OWN: Final = ("pyspark", "py4j")

CLIENT_PROGRAM: Final = """
import sys
from tailrace_client import Consumer, Tailrace

with Tailrace(sys.argv[1]) as tailrace:
    race = tailrace.stream("smoke:python")
    first = race.append({"rider": "Castilla"})
    race.append_many([{"rider": "Norem"}, {"rider": "Prickett"}])
    entries = list(race.read())
    assert entries[0] == (first, {"rider": "Castilla"}), entries
    consumer = Consumer(tailrace, ["smoke:python"], "riders", "alice", after="0")
    for item in consumer:
        item.ack()
        print(item.fields["rider"])
        if item.id == entries[-1][0]:
            consumer.stop()
"""

SPARK_PROGRAM: Final = """
import sys
import tailrace_spark
from pyspark.sql.pandas.utils import require_minimum_pandas_version, require_minimum_pyarrow_version

require_minimum_pandas_version()
require_minimum_pyarrow_version()
sink = tailrace_spark.TailraceSink("http://127.0.0.1:8080", "readings")
brought = {name.partition(".")[0] for name in sys.modules}
print(*sorted(brought & {"tailrace", "fastapi", "pydantic"}), "and", tailrace_spark.__file__)
"""

NODE_PROGRAM: Final = """
import { Tailrace } from "tailrace-client";

const tailrace = new Tailrace({ url: process.argv[2] });
const race = tailrace.stream("smoke:node");
const id = await race.append({ rider: "Castilla" });
for await (const entry of race.read()) console.log(entry.id === id, entry.fields["rider"]);
tailrace.close();
"""


@pytest.fixture(scope="module")
def with_server(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(
        tmp_path_factory.mktemp("server"), [release.wheel("tailrace"), release.wheel("tailrace_client")]
    )


def test_the_server_serves_an_append_and_a_read(with_server: Environment, tmp_path: Path) -> None:
    program = with_server.bin / "tailrace"
    with running_server(tmp_path, program=program) as server, httpx.Client(base_url=server.base_url) as http:
        appended = http.post("/v1/streams/race:france/entries", json={"fields": {"rider": "Castilla"}})
        assert appended.status_code == 201, appended.text
        read = http.get("/v1/streams/race:france/entries").json()["entries"]
        assert read == [{"id": appended.json()["id"], "fields": {"rider": "Castilla"}}]
        assert http.get("/docs").status_code == 200


def test_the_server_prints_its_version_and_its_document(with_server: Environment) -> None:
    program = str(with_server.bin / "tailrace")
    assert finished([program, "--version"], with_server.empty, outside()) == f"tailrace {app.__version__}\n"
    document = msgspec.json.decode(finished([program, "openapi"], with_server.empty, outside()))
    assert document["info"]["version"] == app.__version__
    assert document["paths"]


def test_the_server_runs_from_what_was_installed_and_not_from_this_repository(
    with_server: Environment,
) -> None:
    printed = with_server.python(
        "from tailrace import app, api, core; print(core.__file__, api.__file__, app.__file__)"
    )
    assert all(Path(path).is_relative_to(with_server.directory) for path in printed.split())


def test_the_server_runs_beside_a_project_that_has_packages_named_app_api_and_core(
    with_server: Environment, tmp_path: Path
) -> None:
    for name in ("app", "api", "core"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(
            f"OWNER = 'the project'\nprint('{name} of the project')\n"
        )
    python = str(with_server.bin / "python")
    beside = {**outside(), "PYTHONPATH": "."}
    version = f"tailrace {app.__version__}\n"
    assert finished([python, "-m", "tailrace", "--version"], tmp_path, beside) == version
    assert finished([str(with_server.bin / "tailrace"), "--version"], tmp_path, beside) == version
    finished([python, "-m", "tailrace", "openapi"], tmp_path, beside)
    owners = "import app, api, core; print(app.OWNER, api.OWNER, core.OWNER)"
    assert finished([python, "-c", owners], tmp_path, beside).endswith(
        "the project the project the project\n"
    )


def test_the_server_occupies_one_top_level_name(with_server: Environment) -> None:
    program = (
        "from importlib.metadata import files\n"
        "print(*sorted({path.parts[0] for path in files('tailrace') if path.suffix == '.py'}))"
    )
    assert with_server.python(program) == "tailrace\n"


def test_the_python_client_appends_reads_and_consumes(
    release: Release, base_url: str, tmp_path: Path
) -> None:
    environment = environment_with(tmp_path, [release.wheel("tailrace_client")])
    assert environment.python(CLIENT_PROGRAM, base_url).split() == ["Castilla", "Norem", "Prickett"]
    assert not environment.installed() & {*SERVERS_OWN, "msgspec"}


@pytest.mark.long
def test_the_spark_package_brings_neither_the_server_nor_a_spark(release: Release, tmp_path: Path) -> None:
    wheels = [release.wheel("tailrace_spark"), release.wheel("tailrace_client")]
    environment = environment_with(tmp_path, wheels)
    installed = environment.installed()
    assert installed >= {"tailrace-spark", "tailrace-client", "pyarrow", "pandas"}
    assert not installed & {*SERVERS_OWN, "pyspark"}
    printed = environment.python(SPARK_PROGRAM, PYTHONPATH=str(a_clusters_spark(tmp_path / "cluster")))
    brought, _, place = printed.partition("and ")
    assert brought == ""
    assert Path(place).is_relative_to(environment.directory)


def a_clusters_spark(directory: Path) -> Path:
    """Spark as on a cluster: on the path next to the installed packages, but not installed as a package."""
    directory.mkdir()
    for name in CLUSTERS_OWN:
        spec = find_spec(name)
        assert spec, name
        assert spec.origin, name
        (directory / name).symlink_to(Path(spec.origin).parent)
    return directory


def test_the_npm_package_appends_and_reads(release: Release, base_url: str, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    (tmp_path / "smoke.js").write_text(NODE_PROGRAM)
    environment = outside()
    npm, node = (shutil.which(name, path=environment["PATH"]) for name in ("npm", "node"))
    assert npm
    assert node
    install = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    finished([*install, str(release.npm_package)], tmp_path, environment)
    assert finished([node, "smoke.js", base_url], tmp_path, environment) == "true Castilla\n"
