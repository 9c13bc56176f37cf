"""The casting rule: every value of Spark as text, and the text as the same value again.

Both writers (`sink` and the data source) convert with `texts`, and the data source reads with `parsing`, so a
value has one text. docs/spark.md contains the rule as tables. The package works on Arrow columns and the
types of Spark. It never sends a request, and uses neither streams nor entries.
"""
