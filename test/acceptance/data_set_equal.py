"""Runs SQL that makes the view data_set, and compares it row for row with the files of a data set.

python data_set_equal.py SQL DATA_SET: fails if a row or a value differs.
"""

import sys

import duckdb

sql, folder = sys.argv[1:]
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
connection.execute(open(sql, encoding="utf-8").read())
total = 0
for part in ["train", "holdout"]:
    own = f"SELECT * REPLACE (epoch_ms(time) AS time, place::BIGINT AS place) FROM '{folder}/{part}.parquet'"
    columns = [name for name, *_ in connection.execute(f"DESCRIBE {own}").fetchall()]
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    others = {name for name, *_ in connection.execute("DESCRIBE data_set").fetchall()} - {"part"}
    if set(columns) != others:
        sys.exit(f"columns differ: {sorted(set(columns) ^ others)}")
    theirs = f"SELECT {names} FROM (SELECT * REPLACE (epoch_ms(time) AS time, place::BIGINT AS place) FROM data_set WHERE part = '{part}')"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE own AS SELECT {names} FROM ({own})")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE theirs AS {theirs}")
    rows, graded, requests = connection.execute(
        "SELECT count(*), count(*) FILTER (label > 0), count(DISTINCT request_id) FROM own"
    ).fetchone()
    expected = connection.execute("SELECT count(*) FROM theirs").fetchone()[0]
    missing = connection.execute("SELECT count(*) FROM (FROM theirs EXCEPT ALL FROM own)").fetchone()[0]
    more = connection.execute("SELECT count(*) FROM (FROM own EXCEPT ALL FROM theirs)").fetchone()[0]
    print(f"{part}: {requests:,} requests, {rows:,} rows, {graded:,} with a grade; DuckDB {expected:,} rows, {missing + more} differ")
    if missing or more or rows != expected or rows == 0:
        print(connection.execute("FROM theirs EXCEPT ALL FROM own LIMIT 5").fetchall())
        print(connection.execute("FROM own EXCEPT ALL FROM theirs LIMIT 5").fetchall())
        sys.exit(f"{part}: the joins differ")
    total += rows
print(f"equal: {total:,} rows")
