"""Prints the rows of a query on the archive in the current directory, a line of JSON for each."""

import json
import pathlib
import sys

import duckdb

VIEWS = pathlib.Path(__file__).parents[2] / "integrations/duckdb/protolog.sql"

connection = duckdb.connect()
connection.execute("set timezone = 'UTC'")
connection.execute(VIEWS.read_text())
for row in connection.execute(sys.argv[1]).fetchall():
    print(json.dumps(row, ensure_ascii=False, default=str))
