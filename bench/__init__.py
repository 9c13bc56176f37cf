"""What Tailrace is measured by: each module a command, ``python -m bench`` all that have a goal.

A bench starts what it measures and what it compares with, asks both for the same work under the same
durability, in turns, checks the answers, and gives rows (`bench.rows`) of medians. It never asserts a time.
What a request costs in `core` alone is `bench.core`'s; what a setting costs, `bench.settings`'; what bounds
it all, `bench.ceilings`'; where the time goes, `bench.profiles`'.
"""
