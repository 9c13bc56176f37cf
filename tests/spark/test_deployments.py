"""Each way to install the package that docs/spark.md names, in environments that have nothing else of this
repository: on one machine, and on a standalone cluster."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.spark.queries import NOT_STARTED
from tests.spark.spark_processes import SPARK_HOME, standalone_cluster
from tests.support.distributions import PIP, ROOT, Environment, environment_with, finished, outside

pytestmark = pytest.mark.long

FIRST_JOB: Final = ROOT / "spark_client/examples/first_job.py"
ARRIVED: Final = "1000 of 1000 numbers arrived"
ENDS_WITHIN_S: Final = 900
OURS: Final = ("tailrace_client", "tailrace_spark", "pyspark_tailrace")


def variables(host: str) -> dict[str, str]:
    """Of Spark's processes on an address: they see a Spark, and nothing of this repository."""
    return {**outside(), "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": host}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of the two packages."""
    directory = tmp_path_factory.mktemp("wheels")
    for sources in ("openapi/python", "spark_client"):
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(directory)]
        finished([*build, sources], ROOT, outside())
    return sorted(directory.iterdir())


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheels and all that they need."""
    return environment_with(tmp_path_factory.mktemp("installed"), wheels)


@pytest.fixture(scope="module")
def of_the_cluster(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The Python of a cluster: what the package needs, without the package."""
    directory = tmp_path_factory.mktemp("cluster-python")
    finished([sys.executable, "-m", "venv", "--without-pip", str(directory / "venv")], directory, outside())
    packages = site_packages(Environment(directory))
    for each in site_packages(installed).iterdir():
        if not each.name.startswith(("tailrace", "pyspark_tailrace", "_")):
            (packages / each.name).symlink_to(each)
    return Environment(directory)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), variables) as master:
        yield master


def site_packages(environment: Environment) -> Path:
    (found,) = environment.directory.glob("venv/lib/*/site-packages")
    return found


def submitted(master: str, url: str, directory: Path, *options: str, **extra: str) -> str:
    """The output of the first job. A busy machine may take more than the ten seconds that Spark gives the
    process of a streaming read to start; then the job is submitted again."""
    command: list[str | Path] = [SPARK_HOME / "bin/spark-submit", "--master", master]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m", *options]
    command += [FIRST_JOB, "--url", url, "--directory", directory / "checkpoints"]
    while True:
        done = run(command, directory, {**variables("127.0.0.1"), **extra})
        if NOT_STARTED not in done.stderr:
            assert done.returncode == 0, done.stderr[-6000:]
            return done.stdout


def run(command: list[str | Path], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False
    )


def python_of(environment: Environment) -> str:
    return str(environment.bin / "python")


def test_the_first_job_runs_from_wheels_on_one_machine(
    installed: Environment, base_url: str, tmp_path: Path
) -> None:
    assert ARRIVED in submitted("local[2,4]", base_url, tmp_path, PYSPARK_PYTHON=python_of(installed))


def test_the_first_job_runs_from_a_checkout_on_one_machine(base_url: str, tmp_path: Path) -> None:
    checkout = [ROOT / "openapi/python", ROOT / "spark_client"]
    installed = environment_with(tmp_path / "environment", checkout)
    assert ARRIVED in submitted("local[2,4]", base_url, tmp_path, PYSPARK_PYTHON=python_of(installed))


def test_the_first_job_runs_on_a_cluster_with_a_packed_environment(
    installed: Environment, cluster: str, base_url: str, tmp_path: Path
) -> None:
    packer = environment_with(tmp_path / "packer", ["venv-pack", "setuptools<80"])
    packed = tmp_path / "env.tar.gz"
    pack = [str(packer.bin / "venv-pack"), "-p", str(installed.directory / "venv"), "-o", str(packed)]
    finished([*pack, "--compress-level", "1"], tmp_path, outside())
    (tmp_path / "env").symlink_to(installed.directory / "venv")
    printed = submitted(
        *(cluster, base_url, tmp_path, "--archives", f"{packed}#env"),
        *("--conf", "spark.pyspark.python=./env/bin/python"),
    )
    assert ARRIVED in printed


def test_the_first_job_runs_on_a_cluster_with_a_shared_directory_on_the_path(
    of_the_cluster: Environment, wheels: list[Path], cluster: str, base_url: str, tmp_path: Path
) -> None:
    shared = tmp_path / "packages"
    finished([*PIP, "install", "--no-deps", "--target", str(shared), *map(str, wheels)], tmp_path, outside())
    printed = submitted(
        *(cluster, base_url, tmp_path, "--conf", f"spark.executorEnv.PYTHONPATH={shared}"),
        PYTHONPATH=str(shared),
        PYSPARK_PYTHON=python_of(of_the_cluster),
    )
    assert ARRIVED in printed


def test_the_first_job_runs_on_a_cluster_with_py_files(
    of_the_cluster: Environment, installed: Environment, cluster: str, base_url: str, tmp_path: Path
) -> None:
    for name in OURS:
        shutil.copytree(site_packages(installed) / name, tmp_path / "packages" / name)
    archive = shutil.make_archive(str(tmp_path / "tailrace"), "zip", tmp_path / "packages")
    printed = submitted(
        *(cluster, base_url, tmp_path, "--py-files", archive), PYSPARK_PYTHON=python_of(of_the_cluster)
    )
    assert ARRIVED in printed
