"""Why an engine cannot be used now: nodes without a connection, and slots that no node serves."""

from __future__ import annotations

from tailrace.app.remote.functions.names import SLOTS
from tailrace.app.remote.link.port import Link


def why_not_ready(link: Link) -> str | None:
    """Return the reason in one sentence; None while all masters serve all slots. O(nodes)."""
    masters = link.masters()
    missing = [f"{node.address}: {node.why_down}" for node in masters if not node.is_up]
    if missing:
        return f"no connection to {'; '.join(missing)}"
    return without_node(link)


def without_node(link: Link) -> str | None:
    """Return how many slots of a Cluster no node serves, in one sentence; None if there are none."""
    served = sum(node.slots for node in link.masters())
    if not link.is_cluster or served >= SLOTS:
        return None
    return f"{SLOTS - served} of the {SLOTS} slots of the Cluster have no node"
