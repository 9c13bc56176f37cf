"""The sink: rows of a micro-batch to a stream, each row once.

It never reads a stream.
"""
