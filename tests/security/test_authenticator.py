"""Authentication: headers, expiry, and changes of the tokens file. In process, with a clock that the test
sets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tailrace.api.principals import ANONYMOUS_LOCAL, Act, Principal, Unauthenticated
from tailrace.app.tokens.authenticator import KNOWN_HEADERS_MAX, FileAuthenticator
from tailrace.app.tokens.file import (
    BadTokensFile,
    DamagedEntry,
    changing_tokens,
    read_entries,
    read_tokens,
    write_privately,
)
from tailrace.app.tokens.tokens import PREFIX, digest_of, new_token
from tests.support.tokens import id_of, make_token, revoke_token

START_MS = 1_692_632_147_973


class Keeping:
    """A authenticator over a file of its own, with a clock and a record."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "tokens.json"
        self.now_ms = START_MS
        self.acts: list[Act] = []

    def start(self) -> FileAuthenticator:
        return FileAuthenticator(self.path, self.acts.append, lambda: self.now_ms)

    def make(self, expires_in_ms: int | None = None) -> str:
        made = new_token("gate", ("read",), ("race:*",), self.now_ms, expires_in_ms)
        with changing_tokens(self.path) as tokens:
            tokens.append(made.record)
        return made.text


@pytest.fixture
def keeping(tmp_path: Path) -> Keeping:
    return Keeping(tmp_path)


def shown(text: str) -> bytes:
    return f"Bearer {text}".encode()


def refusal(authenticator: FileAuthenticator, authorization: bytes | None) -> Unauthenticated:
    with pytest.raises(Unauthenticated) as found:
        authenticator.authenticate(authorization)
    return found.value


def test_a_token_is_known_by_its_text_alone(keeping: Keeping) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    principal = authenticator.authenticate(shown(text))
    assert (principal.token_id, principal.name) == (id_of(text), "gate")
    assert principal.scopes == frozenset({"read"})
    assert principal.key_patterns == (b"race:*",)
    assert authenticator.authenticate(f"bearer   {text} ".encode()) is principal


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text + "0",
        lambda text: text.upper(),
        lambda text: text.removeprefix(PREFIX),
        lambda text: digest_of(text.encode()).hex(),
        lambda _: "",
        lambda text: f"{text} {text}",
    ],
)
def test_what_is_nearly_a_token_is_none(keeping: Keeping, change: Callable[[str], str]) -> None:
    text = keeping.make()
    error = refusal(keeping.start(), shown(change(text)))
    assert error.is_given
    assert text not in error.reason


@pytest.mark.parametrize("authorization", [b"", b"Basic dXNlcjpwYXNz", b"Bearer", b"\xff\xfe", b"Token x"])
def test_another_scheme_is_refused(keeping: Keeping, authorization: bytes) -> None:
    keeping.make()
    assert refusal(keeping.start(), authorization).is_given


def test_no_header_is_told_what_is_needed(keeping: Keeping) -> None:
    keeping.make()
    error = refusal(keeping.start(), None)
    assert not error.is_given
    assert "Authorization: Bearer" in error.reason


def test_without_a_file_everybody_is_let_in_whatever_they_show(keeping: Keeping) -> None:
    authenticator = keeping.start()
    for authorization in (None, b"Bearer x", b"nonsense"):
        assert authenticator.authenticate(authorization) is ANONYMOUS_LOCAL
    authenticator.require_standing(ANONYMOUS_LOCAL)


def test_a_file_without_tokens_lets_nobody_in(keeping: Keeping) -> None:
    revoke_token(keeping.path, keeping.make())
    assert read_tokens(keeping.path) == ()
    refusal(keeping.start(), None)


def test_the_text_is_stored_nowhere(keeping: Keeping) -> None:
    text = keeping.make()
    secret = text.split("_")[2]
    for file in keeping.path.parent.iterdir():
        assert secret.encode() not in file.read_bytes()
    assert len(bytes.fromhex(secret)) == 32


def test_remembered_headers_are_bounded_and_forgotten_with_the_token(keeping: Keeping) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    for blanks in range(KNOWN_HEADERS_MAX + 10):
        authenticator.authenticate(b"Bearer " + b" " * blanks + text.encode())
    assert len(authenticator._known) <= KNOWN_HEADERS_MAX
    revoke_token(keeping.path, text)
    authenticator.refresh()
    refusal(authenticator, shown(text))


# --- expiry ------------------------------------------------------------------------------------------


def test_a_token_expires_to_the_millisecond(keeping: Keeping) -> None:
    text = keeping.make(expires_in_ms=1_000)
    authenticator = keeping.start()
    principal = authenticator.authenticate(shown(text))
    keeping.now_ms += 999
    authenticator.require_standing(principal)
    assert authenticator.authenticate(shown(text)) is principal
    keeping.now_ms += 1
    with pytest.raises(Unauthenticated, match="expired"):
        authenticator.require_standing(principal)
    assert "expired" in refusal(authenticator, shown(text)).reason


# --- watching ----------------------------------------------------------------------------------------


def _note(told: list[str], text: str, _error: Unauthenticated) -> None:
    told.append(text)


def test_who_watches_is_told_once_and_the_others_not(keeping: Keeping) -> None:
    first, second = keeping.make(), keeping.make()
    authenticator = keeping.start()
    told: list[str] = []
    for text in (first, first, second):
        authenticator.watch(authenticator.authenticate(shown(text)), partial(_note, told, text))
    forget = authenticator.watch(authenticator.authenticate(shown(first)), lambda _: told.append("forgotten"))
    forget()
    authenticator.refresh()
    assert told == []
    revoke_token(keeping.path, first)
    for _ in range(3):
        authenticator.refresh()
    assert told == [first, first]
    forget()


def test_a_watch_that_fails_harms_no_other(keeping: Keeping) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    principal = authenticator.authenticate(shown(text))
    told: list[Unauthenticated] = []

    def fail(_: Unauthenticated) -> None:
        raise RuntimeError

    authenticator.watch(principal, fail)
    authenticator.watch(principal, told.append)
    revoke_token(keeping.path, text)
    authenticator.refresh()
    assert [error.reason for error in told] == ["the token was revoked"]


def test_who_watches_too_late_is_told_soon(keeping: Keeping) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    principal = authenticator.authenticate(shown(text))
    revoke_token(keeping.path, text)
    authenticator.refresh()
    told: list[Unauthenticated] = []

    async def watch() -> None:
        authenticator.watch(principal, told.append)
        forget = authenticator.watch(principal, told.append)
        forget()
        await asyncio.sleep(0)

    asyncio.run(watch())
    assert len(told) == 1


def test_a_watch_ends_with_the_expiry(keeping: Keeping) -> None:
    text = keeping.make(expires_in_ms=1_000)
    authenticator = keeping.start()
    told: list[Unauthenticated] = []
    authenticator.watch(authenticator.authenticate(shown(text)), told.append)
    keeping.now_ms += 1_000
    authenticator.refresh()
    assert [error.reason for error in told] == ["the token has expired"]


# --- the file ----------------------------------------------------------------------------------------


def test_a_token_that_stays_the_same_is_the_same_principal(keeping: Keeping) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    principal = authenticator.authenticate(shown(text))
    other = keeping.make()
    authenticator.refresh()
    assert authenticator.authenticate(shown(text)) is principal
    assert authenticator.authenticate(shown(other)) is not principal
    authenticator.require_standing(principal)


def test_every_change_that_is_seen_is_written_down(keeping: Keeping) -> None:
    authenticator = keeping.start()
    text = keeping.make()
    authenticator.refresh()
    revoke_token(keeping.path, text)
    authenticator.refresh()
    assert [(act.operation, act.principal.token_id) for act in keeping.acts] == [
        ("token_added", id_of(text)),
        ("token_revoked", id_of(text)),
    ]


def test_a_change_of_the_same_size_within_a_moment_is_seen(keeping: Keeping) -> None:
    texts = [keeping.make() for _ in range(2)]
    authenticator = keeping.start()
    for _ in range(20):
        with changing_tokens(keeping.path) as tokens:
            tokens.reverse()
        authenticator.refresh()
    revoke_token(keeping.path, texts[0])
    authenticator.refresh()
    refusal(authenticator, shown(texts[0]))
    assert isinstance(authenticator.authenticate(shown(texts[1])), Principal)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not a tokens file: it is empty"),
        (b"\0" * 512, "is not a tokens file"),
        (b"\xff", "is not a tokens file"),
        (b"[]", "is not a tokens file"),
        (b'{"version":7,"tokens":[]}', "has version 7"),
        (b'{"version":1,"tokens":[],"more":1}', "is not a tokens file"),
        (b'{"version":1,"tokens":{}}', "is not a tokens file"),
        (b'{"tokens":[]}', "is not a tokens file"),
    ],
)
def test_a_file_that_is_no_good_is_refused_at_the_start(
    keeping: Keeping, content: bytes, complaint: str
) -> None:
    keeping.path.write_bytes(content)
    with pytest.raises(BadTokensFile, match=complaint):
        keeping.start()


DAMAGE = [
    (b'"scopes":["read"]', b'"scopes":[]', "it has no scope"),
    (b'"scopes":["read"]', b'"scopes":["root"]', "Invalid enum value"),
    (b'"scopes":["read"],', b"", "missing required field `scopes`"),
    (b'"keys":["race:*"]', b'"keys":[]', "no key pattern"),
    (b'"keys":["race:*"]', b'"keys":[""]', "a key pattern is empty"),
    (b'"keys":["race:*"]', b'"keys":["' + b"x" * 1025 + b'"]', "has 1025 bytes: 1024 are allowed"),
    (b'"name":"gate"', b'"name":"a b"', "the name 'a b' is invalid"),
    (b'"name":"gate"', b'"name":"a\\nb"', "is invalid"),
    (b'"sha256":"', b'"sha256":"z', "not 64 hexadecimal digits"),
    (b'"expires_at_ms":null', b'"expires_at_ms":"tomorrow"', "Expected `int | null`"),
    (b'"expires_at_ms":null', b'"expires_at_ms":1e300', "Expected `int | null`"),
    (b'"expires_at_ms":null', b'"expires_at_ms":9999999999999999', "not in Unix milliseconds"),
    (b'"expires_at_ms":null', b'"expires_at_ms":null,"later":1', "unknown field `later`"),
]
"""The possible errors in one entry of the file, each with its message."""


@pytest.mark.parametrize(("old", "new", "reason"), DAMAGE)
def test_a_damaged_entry_is_no_token_and_the_others_are_unaffected(
    keeping: Keeping, caplog: pytest.LogCaptureFixture, old: bytes, new: bytes, reason: str
) -> None:
    damaged, good = keeping.make(), keeping.make()
    content = keeping.path.read_bytes()
    assert old in content
    keeping.path.write_bytes(content.replace(old, new, 1))
    authenticator = keeping.start()
    refusal(authenticator, shown(damaged))
    assert authenticator.authenticate(shown(good)).token_id == id_of(good)
    assert (authenticator.token_count, authenticator.damaged_count, authenticator.is_file_refused) == (
        1,
        1,
        False,
    )
    (told,) = [record for record in caplog.records if record.msg == "token_ignored"]
    assert told.fields["token_id"] == id_of(damaged)  # type: ignore[attr-defined]
    assert reason in told.fields["reason"]  # type: ignore[attr-defined]
    assert damaged.split("_")[2] not in str(vars(told))


@pytest.mark.parametrize("entry", [b"null", b"[]", b'"tlr"', b"{}", b'{"id":7}'])
def test_an_entry_without_an_id_is_named_by_its_place(keeping: Keeping, entry: bytes) -> None:
    good = keeping.make()
    content = keeping.path.read_bytes()
    keeping.path.write_bytes(content.removesuffix(b"]}") + b"," + entry + b"]}")
    (found,) = [each for each in read_entries(keeping.path) if isinstance(each, DamagedEntry)]
    assert (found.id, found.name, found.raw) == ("entry-2", "", entry)
    assert keeping.start().authenticate(shown(good)).token_id == id_of(good)


def test_a_change_of_the_tokens_leaves_damaged_entries_as_they_are(keeping: Keeping) -> None:
    keeping.path.write_bytes(b'{"version":1,"tokens":[{"id":"a", "later":{"x":[1]}},null]}')
    keeping.path.chmod(0o600)
    text = keeping.make()
    assert [getattr(entry, "raw", None) for entry in read_entries(keeping.path)] == [
        b'{"id":"a", "later":{"x":[1]}}',
        b"null",
        None,
    ]
    revoke_token(keeping.path, text)
    assert keeping.path.read_bytes() == b'{"version":1,"tokens":[{"id":"a", "later":{"x":[1]}},null]}'


def test_of_two_tokens_with_one_id_the_first_counts(keeping: Keeping) -> None:
    text = keeping.make()
    content = keeping.path.read_bytes()
    one = content[content.index(b"[") + 1 : content.rindex(b"]")]
    other = one.replace(b'"read"', b'"admin"')
    keeping.path.write_bytes(content.replace(one, one + b"," + other))
    assert keeping.start().authenticate(shown(text)).scopes == frozenset({"read"})
    (_, second) = read_entries(keeping.path)
    assert isinstance(second, DamagedEntry)
    assert second.reason == "another token has the same id"


def is_refused(authenticator: FileAuthenticator) -> bool:
    return authenticator.is_file_refused


@pytest.mark.parametrize("content", [b"", b"{", b'{"version":2,"tokens":[]}', None])
def test_while_the_file_is_unusable_the_tokens_stay_and_the_server_says_so(
    keeping: Keeping, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    text = keeping.make()
    authenticator = keeping.start()
    good = keeping.path.read_bytes()
    if content is None:
        keeping.path.unlink()
    else:
        keeping.path.write_bytes(content)
    for _ in range(3):
        authenticator.refresh()
    assert is_refused(authenticator) is True
    assert authenticator.authenticate(shown(text)).token_id == id_of(text)
    refusal(authenticator, None)
    (told,) = [record for record in caplog.records if record.msg == "tokens_file_refused"]
    assert told.fields["kept"] == 1  # type: ignore[attr-defined]
    write_privately(keeping.path, good)
    authenticator.refresh()
    assert "tokens_file_usable_again" in caplog.messages
    assert is_refused(authenticator) is False


def test_a_token_that_becomes_damaged_ends_as_if_it_was_revoked(keeping: Keeping) -> None:
    first, second = keeping.make(), keeping.make()
    authenticator = keeping.start()
    told: list[str] = []
    for text in (first, second):
        authenticator.watch(authenticator.authenticate(shown(text)), partial(_note, told, text))
    keeping.path.write_bytes(keeping.path.read_bytes().replace(b'"read"', b'"root"', 1))
    authenticator.refresh()
    assert told == [first]
    refusal(authenticator, shown(first))


def test_a_directory_in_place_of_the_file_is_refused(keeping: Keeping) -> None:
    keeping.path.mkdir()
    with pytest.raises(BadTokensFile, match="is not a regular file"):
        keeping.start()


def test_a_file_that_others_may_write_is_refused(keeping: Keeping) -> None:
    keeping.make()
    assert keeping.path.stat().st_mode & 0o777 == 0o600
    keeping.path.chmod(0o620)
    with pytest.raises(BadTokensFile, match="chmod 600"):
        keeping.start()


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"

    async def make_all() -> list[str]:
        makings = (asyncio.to_thread(make_token, path, "read") for _ in range(20))
        return await asyncio.gather(*makings)

    texts = asyncio.run(make_all())
    assert {record.id for record in read_tokens(path)} == {id_of(text) for text in texts}
