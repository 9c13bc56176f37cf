"""Pending entries lists: which consumer holds which entry of a group, since when, and how often delivered.

It never reads the fields of an entry, and never decides what a command does.
"""
