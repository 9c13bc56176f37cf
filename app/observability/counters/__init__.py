"""Counters: commands, commits, requests and delays, counted while the server runs.

It never writes the metrics page; `app.metrics` does.
"""
