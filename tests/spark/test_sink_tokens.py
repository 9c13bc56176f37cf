"""The sink and a server that asks for tokens or speaks TLS, and what is said of wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from pyspark.sql import SparkSession

from tailrace_client import Tailrace
from tailrace_spark import TailraceSink
from tailrace_spark.errors import BadOption, SinkError
from tailrace_spark.sink.staging import places_of
from tests.support.server_process import running_server
from tests.support.tokens import make_token

WRONG = f"tlr_{'0' * 8}_not-to-be-seen"


@pytest.fixture(scope="module")
def tokens_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens") / "tokens.json"


@pytest.fixture(scope="module")
def token(tokens_file: Path) -> str:
    return make_token(tokens_file, "append", "read", keys=("mine:*",))


@pytest.fixture(scope="module")
def secured_url(tokens_file: Path, token: str) -> Iterator[str]:
    assert token
    with running_server(tokens_file.parent, "--tokens-file", str(tokens_file)) as server:
        yield server.base_url


def test_a_token_in_a_file_is_read_where_tasks_run_and_suffices_to_remove_staged_rows(
    spark: SparkSession, secured_url: str, token: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(f"{token}\n")
    sink = TailraceSink(secured_url, "mine:rows", producer_id="p", token_file=str(tmp_path / "token"))
    sink(spark.range(10), 0)
    with Tailrace(secured_url, token) as tailrace:
        assert tailrace.stream("mine:rows").length() == 10
        staged = tailrace.stream(places_of("mine:rows", "p").chunks).read()
        assert [list(fields) for _, fields in staged] == [["trimmed_up_to"]]


@pytest.mark.parametrize("wrong", [WRONG, None])
def test_a_wrong_token_is_an_error_at_once_that_does_not_repeat_it(
    spark: SparkSession, secured_url: str, wrong: str | None
) -> None:
    with pytest.raises(
        SinkError, match=r"HTTP 401.*: check that the token is valid, and may append"
    ) as error:
        TailraceSink(secured_url, "mine:rows", wrong, producer_id="wrong")(spark.range(10), 0)
    assert WRONG not in str(error.value)


def test_a_token_that_may_not_append_there_is_an_error_at_once(
    spark: SparkSession, secured_url: str, token: str
) -> None:
    with pytest.raises(
        SinkError, match=r"HTTP 403.*: stream 'others:staged:.*', .* may append to this stream and read it"
    ):
        TailraceSink(secured_url, "others", token, producer_id="p")(spark.range(10), 0)


def test_a_token_that_is_missing_where_tasks_run_is_an_error_that_says_so(
    spark: SparkSession, secured_url: str
) -> None:
    with pytest.raises(BadOption, match="token_env: the variable TLR_MISSING is not set where the task runs"):
        TailraceSink(secured_url, "mine:rows", producer_id="p", token_env="TLR_MISSING")(spark.range(10), 0)  # noqa: S106 - a name


# --- TLS -------------------------------------------------------------------------------------------------


def test_a_server_is_trusted_by_the_authority_in_the_file(spark: SparkSession, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    files = {name: tmp_path / f"{name}.pem" for name in ("authority", "certificate", "key")}
    authority.cert_pem.write_to_path(files["authority"])
    issued.cert_chain_pems[0].write_to_path(files["certificate"])
    issued.private_key_pem.write_to_path(files["key"])
    options = ("--tls-cert", str(files["certificate"]), "--tls-key", str(files["key"]))
    with running_server(tmp_path, *options) as server:
        trusting = {"producer_id": "tls", "ca_file": str(files["authority"])}
        report = TailraceSink(server.base_url, "s", **trusting).write(spark.range(10), 0)
        assert (report.counts.rows, report.counts.retries) == (10, 0)
        doubting = TailraceSink(server.base_url, "s", producer_id="tls", retry_deadline_s=0)
        with pytest.raises(SinkError, match=r"NOT_CONNECTED: .*certificate verify failed"):
            doubting(spark.range(10), 1)
        missing = TailraceSink(server.base_url, "s", producer_id="tls", ca_file=str(tmp_path / "none.pem"))
        with pytest.raises(
            BadOption, match=r"ca_file: .*none\.pem cannot be read where the task runs \(FileNotFoundError\)"
        ):
            missing(spark.range(10), 1)
