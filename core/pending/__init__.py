"""Pending entries lists: which consumer owns which entry of a group, since when, and how often it was
delivered.

It never reads the fields of an entry, and never decides what a command does.
"""
