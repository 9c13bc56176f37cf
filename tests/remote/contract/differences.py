"""What rightly differs between the stores, with the tests that show it.

`python -m tests.remote.contract.differences` writes the table of `docs/gateway.md`.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Difference(NamedTuple):
    """A test of the contract that fails on some stores. `test`: its name; `stores`: parts of their names."""

    test: str
    stores: tuple[str, ...]
    reason: str

    def concerns(self, item_name: str) -> bool:
        name, _, parameters = item_name.partition("[")
        return name == self.test and any(store in parameters for store in self.stores)


ENGINES: Final = ("redis", "cluster")
"""All stores but the embedded one."""

DIFFERENCES: Final[tuple[Difference, ...]] = (
    Difference(
        "test_entries_trimmed_out_of_the_middle_are_one_gap_and_the_rest_follows",
        ENGINES,
        "an engine does not record which entries were trimmed; only a missing beginning of the stream shows",
    ),
)

OWN_SERVER: Final[frozenset[str]] = frozenset()
"""Tests that start a server of their own, with its own storage: nothing of a gateway is in them."""
