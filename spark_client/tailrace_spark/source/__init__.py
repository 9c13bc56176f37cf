"""The data source `format("tailrace")`: reads and writes streams in batch and streaming queries.

The package owns its options, offsets and columns, the plans of reads, and the conversion of entries to Arrow.
Writes use the chunks, keys and dead letters of `sink`. The package never trims a stream and never
acknowledges an entry.
"""
