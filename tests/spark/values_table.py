"""The casting rule as a table: the type, a hard value of it in SQL, and its text. Spark's own casts are the
judge of the texts."""

from __future__ import annotations

from typing import Final, NamedTuple


class Value(NamedTuple):
    """One value. `kind`: its type. `sql`: the expression that makes it. `text`: what both writers write.

    `judge`: how Spark itself reads the text `t` back, if not by its usual cast.
    """

    kind: str
    sql: str
    text: str
    judge: str = ""

    @property
    def read_by_spark(self) -> str:
        """Return the expression by which Spark reads the column `t`."""
        if self.judge:
            return self.judge
        if self.kind == "variant":
            return "parse_json(t)"
        is_nested = self.kind.startswith(("struct", "array", "map"))
        return f"from_json(t, '{self.kind}')" if is_nested else f"try_cast(t as {self.kind})"


MICROS_MAX: Final = "timestamp_micros(9223372036854775807)"
MICROS_MIN: Final = "timestamp_micros(-9223372036854775808)"
AT: Final = "timestamp'2026-01-02 03:04:05.000600 UTC'"

VALUES: Final = [
    Value("string", r"'say \"ö\"\n\\ \u0001'", 'say "ö"\n\\ \x01'),
    Value("string", "''", ""),
    Value("string", "cast('ab' as char(3))", "ab"),
    Value("string", "cast('ab' as varchar(3))", "ab"),
    Value("string collate UTF8_LCASE", "'Ab' collate UTF8_LCASE", "Ab"),
    Value("tinyint", "cast(-128 as tinyint)", "-128"),
    Value("smallint", "cast(-32768 as smallint)", "-32768"),
    Value("int", "-2147483648", "-2147483648"),
    Value("bigint", "-9223372036854775807L - 1L", "-9223372036854775808"),
    Value("float", "cast(0.1 as float)", "0.1"),
    Value("float", "cast('-Infinity' as float)", "-inf"),
    Value("double", "1D / 3D", "0.3333333333333333"),
    Value("double", "-0.0D", "-0"),
    Value("double", "1e300D", "1e+300"),
    Value("double", "4.9e-324D", "5e-324"),
    Value("double", "double('NaN')", "nan"),
    Value("decimal(10,2)", "cast(12.5 as decimal(10,2))", "12.50"),
    Value("decimal(38,18)", "cast('-0.000000000000000001' as decimal(38,18))", "-0.000000000000000001"),
    Value("decimal(38,0)", "cast(repeat('9', 38) as decimal(38,0))", "9" * 38),
    Value("boolean", "true", "true"),
    Value("date", "date'2026-02-03'", "2026-02-03"),
    Value("date", "date'0001-01-01'", "0001-01-01"),
    Value("date", "date_from_unix_date(2932897)", "+10000-01-01"),
    Value("date", "date_from_unix_date(2147483647)", "+5881580-07-11"),
    Value("date", "date_from_unix_date(-719528)", "0000-01-01"),
    Value("date", "date_from_unix_date(-2147483648)", "-5877641-06-23"),
    Value("timestamp", AT, "2026-01-02T03:04:05.000600Z"),
    Value("timestamp", "timestamp_micros(253402300800000000)", "+10000-01-01T00:00:00.000000Z"),
    Value("timestamp", "timestamp_micros(-62198755200000001)", "-0002-12-31T23:59:59.999999Z"),
    Value("timestamp", MICROS_MAX, "+294247-01-10T04:00:54.775807Z"),
    Value("timestamp", MICROS_MIN, "-290308-12-21T19:59:05.224192Z"),
    Value("timestamp_ntz", "timestamp_ntz'2026-01-02 03:04:05'", "2026-01-02T03:04:05.000000"),
    Value("timestamp_ntz", "timestamp_ntz'+10000-01-02 03:04:05'", "+10000-01-02T03:04:05.000000"),
    Value("time", "time'12:34:56.123456'", "12:34:56.123456"),
    Value("time", "time'00:00:00'", "00:00:00.000000"),
    Value(
        "interval day to second",
        "interval '-2 03:04:05.6' day to second",
        "INTERVAL '-2 03:04:05.6' DAY TO SECOND",
    ),
    Value("interval day", "interval '2' day", "INTERVAL '2' DAY"),
    Value("interval hour to minute", "interval '30:10' hour to minute", "INTERVAL '30:10' HOUR TO MINUTE"),
    Value("interval minute", "interval '90' minute", "INTERVAL '90' MINUTE"),
    Value("interval second", "interval '1.5' second", "INTERVAL '01.5' SECOND"),
    Value(
        "interval day to second",
        "interval '-106751991 04:00:54.775808' day to second",
        "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND",
    ),
    Value(
        "variant",
        """parse_json('{"a":[1,null,1.50,-7,"x",true],"b":{}}')""",
        '{"a":[1,null,1.50,-7,"x",true],"b":{}}',
    ),
    Value("struct<a:int,b:string>", "named_struct('a', 1, 'b', null)", '{"a":1,"b":null}'),
    Value(
        'struct<`a "b`:double>',
        "named_struct('a \"b', double('NaN'))",
        '{"a \\"b":"NaN"}',
        "from_json(t, '`a \"b` double')",
    ),
    Value(
        "array<double>",
        "array(1.5D, null, 1D, double('-Infinity'), -0.0D)",
        '[1.5,null,1.0,"-Infinity",-0.0]',
    ),
    Value("array<string>", "array('a\\n', '', null)", '["a\\n","",null]'),
    Value("array<array<int>>", "array(array(1), array(), null)", "[[1],[],null]"),
    Value(
        "struct<at:timestamp,on:timestamp_ntz,day:date,raw:binary,i:interval day to second,t:time>",
        f"named_struct('at', {MICROS_MAX}, 'on', timestamp_ntz'-0001-01-01 00:00:00', 'day', "
        "date_from_unix_date(2932897), 'raw', unhex('FF'), 'i', interval '0 00:00:02' day to second, "
        "'t', time'01:02:03')",
        '{"at":"+294247-01-10T04:00:54.775807Z","on":"-0001-01-01T00:00:00.000000","day":"+10000-01-01",'
        '"raw":"/w==","i":"INTERVAL \'0 00:00:02\' DAY TO SECOND","t":"01:02:03.000000"}',
    ),
    Value(
        "struct<d:decimal(38,18)>",
        "named_struct('d', cast('1e-18' as decimal(38,18)))",
        '{"d":0.000000000000000001}',
    ),
    Value("struct<v:variant>", """named_struct('v', parse_json('{"a":1.25}'))""", '{"v":{"a":1.25}}'),
    Value(
        "map<string,decimal(4,2)>", "map('k', cast(1.5 as decimal(4,2)), '\"', null)", '{"k":1.50,"\\"":null}'
    ),
    # Spark's from_json reads only maps with text as keys: the judge casts the keys by themselves.
    Value(
        "map<timestamp,int>",
        f"map({AT}, 1)",
        '{"2026-01-02T03:04:05.000600Z":1}',
        "transform_keys(from_json(t, 'map<string,int>'), (k, v) -> try_cast(k as timestamp))",
    ),
    Value(
        "map<date,int>",
        "map(date'2026-02-03', 1)",
        '{"2026-02-03":1}',
        "transform_keys(from_json(t, 'map<string,int>'), (k, v) -> try_cast(k as date))",
    ),
    Value(
        "map<double,boolean>",
        "map(1D, true, double('NaN'), null)",
        '{"1.0":true,"NaN":null}',
        "transform_keys(from_json(t, 'map<string,boolean>'), (k, v) -> try_cast(k as double))",
    ),
    Value(
        "map<struct<a:int,b:string>,int>",
        "map(named_struct('a', 1, 'b', 'x\"'), 1)",
        '{"{\\"a\\":1,\\"b\\":\\"x\\\\\\"\\"}":1}',
        "transform_keys(from_json(t, 'map<string,int>'), (k, v) -> from_json(k, 'a int, b string'))",
    ),
]

REFUSED: Final = [
    ("interval year to month", "interval '1-2' year to month"),
    ("interval year", "interval '1' year"),
    ("map<interval month,int>", "map(interval '1' month, 1)"),
]
"""Types without a text, with a value of each."""

TEXTS: Final = {
    "int": ["7", "+7", " 7", "7 ", "0x1F", "7.0", "1e2", "", "2147483648", "-0", "٣"],
    "double": ["7", "+7", "1e2", "nan", "NaN", "inf", "-Infinity", "0x1p3", "1d", "", "1,5", "infinity"],
    "decimal(5,2)": ["7", "+7.25", "1e2", "7.255", "1234.5", "", "nan"],
    "boolean": ["true", "TRUE", "1", "0", "t", "yes", "on", ""],
    "date": [
        "2026-02-03",
        "2026-2-3",
        "2026-02-30",
        "20260203",
        "+10000-02-29",
        "10001-02-29",
        "0000-02-29",
        "",
    ],
    "timestamp": [
        "2026-02-03",
        "2026-02-03T04:05",
        "2026-02-03 04:05:06.7",
        "2026-02-03T04:05:06+02:00",
        "2026-02-03T04:05:06+0200",
        "2026-02-03T24:00:00",
        "+10000-02-29T04:05:06.7+02:00",
        "+10000-02-29",
        "+294248-01-01T00:00:00Z",
        "2026-W01-1",
        "1767322800",
        "",
    ],
    "timestamp_ntz": [
        "2026-02-03T04:05:06",
        "2026-02-03",
        "2026-02-03T04:05:06Z",
        "+10000-02-29T04:05:06",
        "x",
    ],
    "interval day to second": [
        "INTERVAL '2 03:04:05.6' DAY TO SECOND",
        "INTERVAL '2' DAY",
        "2 days",
        "INTERVAL '2 24:00:00' DAY TO SECOND",
    ],
    "struct<a:int>": [
        '{"a":1}',
        '{"a":1,"b":2}',
        "{}",
        '{"a":"1"}',
        '{"a":1.0}',
        '{"a":null}',
        "[]",
        "x",
        '{"a":true}',
    ],
    "struct<a:double>": ['{"a":1}', '{"a":"NaN"}', '{"a":"1.5"}', '{"a":NaN}', '{"a":1e400}'],
    "struct<a:string>": ['{"a":1.5}', '{"a":{"b":[1,null]}}', '{"a":true}'],
    "struct<a:timestamp>": ['{"a":"2026-02-03T04:05:06Z"}', '{"a":"2026-W01-1"}', '{"a":1}'],
    "array<int>": ["[1,null]", "[]", "{}", "[1"],
}
"""Texts of any origin by the type that reads them. The source has Spark's value, or calls the text bad."""
