"""Plan a DataFrame so that its partitions are known before it runs, and find out what reorders its rows.

Adaptive execution chooses the number of partitions from measurements, so a replay could have another number.
This module plans without it. It changes no setting of the session: other threads plan with the same session
at the same time. It takes Spark's own rules for physical plans and leaves out the one that inserts adaptive
execution. The result is a DataFrame over the RDD of that plan.

Rows of a partition arrive in another order each time if they come over the network. In Spark, that is every
RDD with a `ShuffleDependency`: `ShuffledRowRDD` (DataFrames), `ShuffledRDD` (RDDs), and `CoGroupedRDD` and
`SubtractedRDD` (joins of RDDs) for each input with another partitioner. Two more kinds of RDD do not show how
their rows were ordered: a checkpoint has no lineage, and a state store returns rows in its own order.

The small side of a broadcast join is not part of the lineage.

This module starts no task of the batch itself, and sends no requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject, JVMView

SHUFFLE: Final = "org.apache.spark.ShuffleDependency"
UNORDERED: Final = (
    "org.apache.spark.rdd.CheckpointRDD",
    "org.apache.spark.sql.execution.streaming.state.BaseStateStoreRDD",
)
"""Classes of RDDs that do not show how their rows were ordered."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A DataFrame with a fixed physical plan. `rdd`: the RDD of Spark's rows, with its lineage."""

    frame: DataFrame
    rdd: Any

    @property
    def partitions(self) -> int:
        """Return the number of partitions."""
        return int(self.rdd.getNumPartitions())

    @property
    def is_reordered(self) -> bool:
        """Return whether rows can arrive in another order when they are computed again. O(lineage)."""
        gateway = self.frame.sparkSession.sparkContext._gateway  # noqa: SLF001
        assert gateway is not None
        return _unordered(self.rdd, gateway)


def planned(frame: DataFrame) -> Planned:
    """Return `frame` with a physical plan without adaptive execution.

    The plan is made again, because `frame` may have been planned before parts of it were cached.
    """
    session = frame.sparkSession
    jvm, jsession = session._jvm, session._jsparkSession  # noqa: SLF001 - Python has no other access to plans
    assert jvm is not None
    logical = frame.select("*")._jdf.queryExecution()  # noqa: SLF001
    with _active(jvm, jsession):
        plan = _without_adaptive_execution(jvm, jsession, logical.sparkPlan())
        rdd = plan.execute()
        fixed = jsession.internalCreateDataFrame(rdd, frame._jdf.schema(), False)  # noqa: FBT003, SLF001
    return Planned(DataFrame(fixed, session), rdd)


def _without_adaptive_execution(jvm: JVMView, jsession: JavaObject, plan: JavaObject) -> JavaObject:
    execution = getattr(jvm.org.apache.spark.sql.execution, "QueryExecution$").__getattr__("MODULE$")
    rules = execution.preparations(jsession, jvm.scala.Option.empty(), False)  # noqa: FBT003 - not a subquery
    return execution.prepareForExecution(rules, plan.clone())


@contextmanager
def _active(jvm: JVMView, jsession: JavaObject) -> Iterator[None]:
    """Make the session the active one of this thread, because Spark's rules read the settings of that one."""
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    before = sessions.getActiveSession()
    sessions.setActiveSession(jsession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


# --- the lineage ---------------------------------------------------------------------------------------


def _unordered(rdd: JavaObject, gateway: JavaGateway) -> bool:
    """Return whether the RDD or one that it is computed from gives its rows no fixed order."""
    from py4j.java_gateway import is_instance_of  # noqa: PLC0415 - a client of Spark Connect does not have it

    ahead, seen = [rdd], set()
    while ahead:
        each = ahead.pop()
        if each.id() in seen:
            continue
        seen.add(each.id())
        if any(is_instance_of(gateway, each, name) for name in UNORDERED):
            return True
        found = each.dependencies()
        dependencies = [found.apply(number) for number in range(found.size())]
        if any(is_instance_of(gateway, dependency, SHUFFLE) for dependency in dependencies):
            return True
        ahead += [dependency.rdd() for dependency in dependencies]
    return False
