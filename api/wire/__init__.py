"""The wire format: how bodies, names, parameters, entries and replies are read and written.

It never decides who may ask, and never keeps state between requests.
"""
