"""What each command does: one function for each command, `(execution, command) -> reply`.

A handler checks everything before its first change, changes the keyspace through effects only, and
knows nothing of words (`core.grammar`) or of HTTP.
"""
