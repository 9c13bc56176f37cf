"""The HTTP client of the command line: connection options, requests, and errors as one sentence.

It owns the connection, the token and the texts of connection errors. It never prints a result and never
retries a request: only the caller knows whether a retry is safe.
"""
