"""Bounds of replies: how many entries and bytes one read, and one request, may return.

It never reads a stream. The handlers ask it how much room is left.
"""
