"""Tails: readers that follow streams by Server-Sent Events, and the responses that carry them.

It never routes a request, and waits only through the store.
"""
