"""What operators see: logs, the audit log, the slow log, traces, counters.

It never changes the result of a request.
"""
