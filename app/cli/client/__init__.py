"""How the command line speaks to a running server: options of the connection, requests, problems.

It never prints a result.
"""
