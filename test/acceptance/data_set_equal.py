"""Compares the files that SQL wrote with those of a data set, row for row.

python data_set_equal.py DATA_SET SQL_OUT: fails if a row or a value differs. A file of SQL_OUT may be a folder of parts.
"""

import os
import sys

import duckdb

folder, out = sys.argv[1:]
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
total = 0
for part in ["train", "holdout"]:
    written = f"{out}/{part}.parquet"
    if os.path.isdir(written):
        written += "/*.parquet"

    def rows_of(path: str) -> str:
        return f"SELECT * REPLACE (epoch_ms(time) AS time, place::BIGINT AS place) FROM read_parquet('{path}')"

    own, theirs = rows_of(f"{folder}/{part}.parquet"), rows_of(written)
    types = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE FROM read_parquet('{written}')").fetchall()}
    if types["time"] != "TIMESTAMP WITH TIME ZONE":
        sys.exit(f"time is no timestamp in UTC, but {types['time']}")
    columns = [name for name, *_ in connection.execute(f"DESCRIBE {own}").fetchall()]
    if set(columns) != set(types):
        sys.exit(f"columns differ: {sorted(set(columns) ^ set(types))}")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE own AS SELECT {names} FROM ({own})")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE theirs AS SELECT {names} FROM ({theirs})")
    rows, graded, requests = connection.execute(
        "SELECT count(*), count(*) FILTER (label > 0), count(DISTINCT request_id) FROM own"
    ).fetchone()
    filled = connection.execute("SELECT count(COLUMNS(*)) FROM own").fetchone()
    empty = [name for name, count in zip(columns, filled) if count == 0]
    if empty:
        sys.exit(f"{part}: nothing is compared, because these columns have no value: {empty}")
    expected = connection.execute("SELECT count(*) FROM theirs").fetchone()[0]
    missing = connection.execute("SELECT count(*) FROM (FROM theirs EXCEPT ALL FROM own)").fetchone()[0]
    more = connection.execute("SELECT count(*) FROM (FROM own EXCEPT ALL FROM theirs)").fetchone()[0]
    print(f"  {part}: {requests:,} requests, {rows:,} rows, {graded:,} with a grade; SQL {expected:,} rows, {missing + more} differ")
    if missing or more or rows != expected or rows == 0:
        print(connection.execute("FROM theirs EXCEPT ALL FROM own LIMIT 5").fetchall())
        print(connection.execute("FROM own EXCEPT ALL FROM theirs LIMIT 5").fetchall())
        sys.exit(f"{part}: the joins differ")
    total += rows
print(f"  equal: {total:,} rows, {len(columns)} columns")
