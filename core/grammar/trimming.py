"""XTRIM, and the options that it shares with XADD: MAXLEN, MINID, LIMIT and the reference policies.

Owns the checks of their combinations (rules 9, 12 and 13). `core.grammar.append` owns XADD's other options.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.commands import References, Trim, TrimStream
from tailrace.core.errors import syntax_error
from tailrace.core.grammar.refusals import invalid_argument
from tailrace.core.grammar.request import Parsed, as_count
from tailrace.core.grammar.words import Words
from tailrace.core.stream_id import StreamId, parse_id

_REFERENCES: Final = {
    b"keepref": References.KEEP,
    b"delref": References.DELETE,
    b"acked": References.ACKNOWLEDGED,
}


def take_references(words: Words) -> References | None:
    """Read the reference policy that the next word names; return None and read nothing if it names none."""
    references = _REFERENCES.get(words.peek().lower()) if words.left else None
    if references is not None:
        words.take()
    return references


class TrimOptions:
    """The trimming options read so far. As in Redis, their combination is checked after the last option."""

    def __init__(self) -> None:
        self._max_length: int | None = None
        self._min_id: StreamId | None = None
        self._approximate = False
        self._limit: int | None = None
        self._references: References | None = None

    def take(self, words: Words) -> bool:
        """Read one option if the next word starts one, else return False.

        A second reference policy is not an option (rule 9).
        """
        if words.take_option(b"maxlen", 1):
            self._take_max_length(words)
        elif words.take_option(b"minid", 1):
            self._take_strategy_mark(words)
            self._min_id = parse_id(words.take())
        elif words.take_option(b"limit", 1):
            self._take_limit(words)
        elif self._references is None:
            self._references = take_references(words)
            return self._references is not None
        else:
            return False
        return True

    def _take_max_length(self, words: Words) -> None:
        self._take_strategy_mark(words)
        max_length = words.take_integer()
        if max_length < 0:
            raise invalid_argument("The MAXLEN argument must be >= 0.")
        self._max_length = max_length

    def _take_strategy_mark(self, words: Words) -> None:
        """Read ``=`` or ``~`` before a threshold. If it is the last word, it is the threshold itself."""
        if self._has_strategy:
            raise syntax_error(", MAXLEN and MINID options at the same time are not compatible")
        self._approximate = words.take_option(b"~", 1)
        if not self._approximate:
            words.take_option(b"=", 1)

    def _take_limit(self, words: Words) -> None:
        self._limit = words.take_integer()
        if self._limit < 0:
            raise invalid_argument("The LIMIT argument must be >= 0.")

    @property
    def _has_strategy(self) -> bool:
        return self._max_length is not None or self._min_id is not None

    def optional_trim(self) -> Trim | None:
        """Return the rule of the trim, or None without MAXLEN and MINID. A bad combination is a syntax
        error."""
        self._refuse_limit_alone()
        self._refuse_limit_of_exact()
        return self._trim() if self._has_strategy else None

    def required_trim(self) -> Trim:
        """Return the rule of the trim. Raises a syntax error for a bad combination, and without MAXLEN and
        MINID."""
        self._refuse_limit_alone()
        if not self._has_strategy:
            raise syntax_error(", XTRIM must be called with a trimming strategy")
        self._refuse_limit_of_exact()
        return self._trim()

    def _refuse_limit_alone(self) -> None:
        """Raise a syntax error for a LIMIT without MAXLEN and MINID. LIMIT 0 passes this check and fails the
        next one, which has another error line (rule 13)."""
        if self._limit and not self._has_strategy:
            raise syntax_error(", LIMIT cannot be used without specifying a trimming strategy")

    def _refuse_limit_of_exact(self) -> None:
        if self._limit is not None and not self._approximate:
            raise syntax_error(", LIMIT cannot be used without the special ~ option")

    def _trim(self) -> Trim:
        return Trim(
            self._max_length,
            self._min_id,
            self._approximate,
            self._limit,
            self._references or References.KEEP,
        )


def parse_xtrim(words: Words) -> Parsed:
    """``XTRIM key MAXLEN|MINID [=|~] threshold [LIMIT n] [KEEPREF|DELREF|ACKED]``."""
    key = words.take_key()
    options = TrimOptions()
    while words.left:
        if not options.take(words):
            raise syntax_error()
    return TrimStream(key, options.required_trim()), as_count
