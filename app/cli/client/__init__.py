"""How the command line talks to a running server: connection options, requests, problems.

It never prints a result.
"""
