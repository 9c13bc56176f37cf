"""Idempotency keys: what a stream remembers of the appends that carried one.

It determines whether an append is new, and returns the ids of an earlier append. It never appends.
"""
