"""The wire: how bodies, names, parameters, entries and replies are read and written.

It never checks permissions, and never calls the store.
"""
