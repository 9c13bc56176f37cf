"""Access: authentication, the rights of tokens, tickets, origins, request rates.

It never parses a request body, and never executes a command.
"""
