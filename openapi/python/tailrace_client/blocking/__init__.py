# `make sdk-python` writes this module from `asynchronous/__init__.py`. Do not edit it.

"""The client for blocking programs: connection, streams, groups and consumers.

Do not edit this package.
"""
