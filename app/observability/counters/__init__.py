"""The counters themselves: where the server counts commands, commits, requests and delays.

It never writes the metrics page; `app.metrics` does.
"""
