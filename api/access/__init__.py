"""Who may do what: principals, scopes and key patterns, tickets, origins, request rates.

It never parses a request body, and never carries a command out.
"""
