"""The sink for `foreachBatch`: appends each row of a micro-batch to a stream exactly once.

The package owns the sink's options, the conversion of rows to NDJSON lines and chunks, the staging of chunks,
the commit of a batch, dead letters, and the reports of batches. The data source writes with the same chunks
and the same commit.
"""
