"""The archive: stores the entries of a stream in Parquet, and reads archive and stream as one DataFrame.

The package owns the archive job, the files of an archive and their manifests. It never writes to a stream: it
only trims entries that it has archived and read back.
"""
