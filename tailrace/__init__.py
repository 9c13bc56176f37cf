"""The package that is imported and installed: `tailrace.core`, `tailrace.api` and `tailrace.app`.

In the repository its members are links to the folders at the top; in a wheel they are the folders themselves. It
contains nothing else, so that importing a part never loads another.
"""
