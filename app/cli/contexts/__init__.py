"""Contexts: named servers with their tokens, and which of them a command uses.

The package owns the contexts file and the precedence of arguments, variables and contexts. It never stores a
token: a context names a file or a variable that has it.
"""
