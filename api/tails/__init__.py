"""Tails: the state of a reader that follows streams by Server-Sent Events, and the response that carries it.

It never routes a request, and never waits except through the store.
"""
