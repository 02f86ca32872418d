"""Asks DuckDB about an archive, and says what that cost: a line of JSON for each query.

    ask.py VIEWS ARCHIVE QUERY...

Each is asked in a process that has asked nothing before, so that it reads what it needs. `bytes` are those that the process
read from files.
"""

import json
import os
import sys
import time

import duckdb


def read_so_far():
    """The bytes that this process has read."""
    with open("/proc/self/io", encoding="ascii") as lines:
        return int(next(line.split()[1] for line in lines if line.startswith("rchar")))


def ask(views, archive, query):
    """The first row, and the cost."""
    connection = duckdb.connect()
    connection.execute(f"set threads = 2; set variable archive = '{archive}'")
    with open(views, encoding="utf-8") as sql:
        connection.execute(sql.read())
    before = (time.perf_counter(), time.process_time(), read_so_far())
    row = connection.execute(query).fetchone()
    after = (time.perf_counter(), time.process_time(), read_so_far())
    wall, cpu, read = (late - early for late, early in zip(after, before, strict=True))
    return {"row": row, "wall": wall, "cpu": cpu, "bytes": read}


def main():
    views, archive, *queries = sys.argv[1:]
    for query in queries:
        child = os.fork()
        if child == 0:
            print(json.dumps(ask(views, archive, query), default=str), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"no answer to {query}")


main()
