"""`format("tailrace")`: reading and writing streams from inside Spark.

It never archives or trims a stream.
"""
