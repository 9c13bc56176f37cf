"""Waiting readers without a connection each: the engine's client tracking reports which keys changed.

It owns the tracking connections and who waits for which key. It never starts a read, and never blocks a
connection.
"""
