"""Tails: readers that follow streams as Server-Sent Events, and the responses that send the events.

The package has no routes, and waits for entries only with the store.
"""
