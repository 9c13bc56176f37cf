"""What `core` costs by itself, operation by operation: no HTTP, no disk, no clock.

`cases` holds the operations, each with its data; `test_cases` times them by pytest-benchmark; `compare` shows
what a change did, by the clock or by instructions, which `count` makes callgrind count.
"""
