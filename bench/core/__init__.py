"""The cost of `core` alone, operation by operation: no HTTP, no disk, no clock.

`cases` contains the operations with their data, and `test_cases` times them with pytest-benchmark. `compare`
shows the effect of a change, by time or by instructions; `count` lets callgrind count the instructions.
"""
