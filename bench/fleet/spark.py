"""Asks Spark, with two workers as processes, about archives: a line of JSON for each archive and question.

    spark.py VIEWS_DIR ARCHIVE...

`cpu` is that of all processes, the Java virtual machines of the workers among them.
"""

import json
import pathlib
import os
import sys
import time

sys.path.insert(0, sys.argv[1])

import protolog
from pyspark.sql import SparkSession

QUESTIONS = {
    "all": lambda spark, _: spark.sql("select count(*) from messages"),
    "no date": lambda spark, _: spark.sql("select count(*) from messages where date = '2020-01-01'"),
    "host": lambda spark, _: spark.sql("select count(*) from messages where host = 'host-7'"),
    "rendered": lambda spark, _: spark.sql("select count(message) from log where host = 'host-7'"),
    "template": lambda _, archive: archive.search_templates("does not answer").groupBy().count(),
}


def stats():
    """The parent and the processor ticks of each process, with those of children that it has waited for.

    The kernel's own lists of children may lack some while processes start and end.
    """
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(path.parent.name), int(words[1]), sum(map(int, words[11:15]))


def cpu():
    """Processor seconds of this process and of all that it has begun."""
    children, ticks = {}, {}
    for pid, parent, own in stats():
        children.setdefault(parent, []).append(pid)
        ticks[pid] = own
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        total += ticks.get(pid, 0)
        todo += children.get(pid, [])
    return total / os.sysconf("SC_CLK_TCK")


def main():
    builder = SparkSession.builder.master("local-cluster[2,1,900]").config("spark.executor.memory", "900m")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    # The first question starts the workers, and compiles what all of them use.
    for turn, path in enumerate([sys.argv[2], *sys.argv[2:]]):
        begun = (time.perf_counter(), cpu())
        archive = protolog.views(spark, path)
        took = {"views": [time.perf_counter() - begun[0], cpu() - begun[1], None]}
        for name, question in QUESTIONS.items():
            begun = (time.perf_counter(), cpu())
            count = question(spark, archive).collect()[0][0]
            took[name] = [time.perf_counter() - begun[0], cpu() - begun[1], count]
        if turn > 0:
            print(json.dumps(took), flush=True)
    spark.stop()


main()
