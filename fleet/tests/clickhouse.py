"""Asks ClickHouse about the archive in the current directory, a line of JSON for each row."""

import json
import sys

import chdb

print(chdb.query(sys.argv[1], "JSONCompactEachRow"), end="")
