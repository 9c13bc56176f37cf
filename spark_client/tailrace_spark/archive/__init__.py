"""The archive: a stream's entries in Parquet, and one frame over the archive and the live stream."""
