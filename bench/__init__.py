"""The benches of Tailrace: each module is a command, and ``python -m bench`` runs all benches that have
goals.

A bench starts Tailrace and a peer, gives both the same work with the same durability, in turns, checks the
responses, and returns rows (`bench.rows`) of medians. It never asserts a time. `bench.core` measures `core`
alone, `bench.settings` the cost of settings, `bench.ceilings` the limits of the figures, and `bench.profiles`
where the server spends its time.
"""
