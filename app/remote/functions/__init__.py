"""Server-side functions: what an engine lacks, or what takes more than one command, done atomically by
the engine.

One library of Lua functions runs on the slot of the stream that it works on. `calls` and its neighbours
make a `Call` of a command of `core` and read its answer; `library` spells a call as FCALL or EVALSHA and
loads the library; `capabilities` says what an engine has itself. The package opens no connection, waits
for nothing, and never decides which way the store takes.
"""
