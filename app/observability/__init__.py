"""Observation for operators: logs, the audit log, the slow log, traces and counters.

The package owns the format of these records and where they are written. It never changes the result of a
request.
"""
