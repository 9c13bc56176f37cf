"""Access: who asks, what a token allows, tickets, origins, request rates.

It never parses a request body, and never executes a command.
"""
