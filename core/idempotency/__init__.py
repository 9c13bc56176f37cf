"""What a stream remembers of appends that were made under an idempotency key.

It never appends: it says whether an append is new, and which ids an earlier one got.
"""
