"""The errors that only a store in front of an engine gives."""

from __future__ import annotations

from tailrace.core.errors import ErrorCode, cross_slot, engine_lacks, wrong_type


def test_a_key_of_another_type_has_the_line_of_redis_and_names_the_key() -> None:
    error = wrong_type(b"counter")
    assert error.code is ErrorCode.WRONGTYPE
    assert error.line == "WRONGTYPE Operation against a key holding the wrong kind of value"
    assert error.names == {"key": b"counter"}


def test_keys_in_several_slots_have_the_line_of_redis() -> None:
    error = cross_slot()
    assert error.code is ErrorCode.CROSSSLOT
    assert error.line == "CROSSSLOT Keys in request don't hash to the same slot"


def test_a_missing_feature_is_named_with_what_it_needs() -> None:
    error = engine_lacks("CLAIM", "Redis 8.4")
    assert error.code is ErrorCode.ENGINE_LACKS_FEATURE
    assert error.line == "ERR the engine has no CLAIM, which needs Redis 8.4"
    assert error.details == {"feature": "CLAIM", "needs": "Redis 8.4"}
