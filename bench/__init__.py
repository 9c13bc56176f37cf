"""The comparisons of the goals, each a command: ``python -m bench.fanout``, ``python -m bench.wakeups``.

They measure; they never assert a time.
"""
