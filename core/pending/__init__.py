"""The pending entries lists: which consumer holds which entry of a group, since when, and how often.

It never reads an entry's fields, and never decides what a command does.
"""
