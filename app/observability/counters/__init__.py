"""Counters of commands, commits, requests and delays, updated while the server runs.

The package owns the counting. It never writes the metrics page: `app.metrics` does.
"""
