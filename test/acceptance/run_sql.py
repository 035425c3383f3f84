"""Runs files of SQL on an engine, one statement after the other: python run_sql.py duckdb|spark FILE …"""

import sys

engine, *files = sys.argv[1:]
if engine == "duckdb":
    import duckdb

    run = duckdb.connect().execute
else:
    from pyspark.sql import SparkSession

    # The time zone of the machine must not matter.
    java = "-Duser.timezone=America/New_York"
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": java}
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    run = session.sql
for file in files:
    with open(file, encoding="utf-8") as text:
        for statement in text.read().split(";\n"):
            if statement.strip():
                run(statement)
