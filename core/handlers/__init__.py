"""The execution of commands: one function for each command, `(execution, command) -> reply`.

A handler checks everything before its first change, and changes the keyspace through effects only. It never
parses words (`core.grammar` does) and never sees HTTP.
"""
