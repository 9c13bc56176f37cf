"""Idempotency keys: what a stream remembers of the appends that carried one.

It never appends. It says whether an append is new, and which ids an earlier one received.
"""
