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


def tree(pid):
    """A process and all that it has begun."""
    try:
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from tree(child)
        yield pid
    except OSError:
        return


def cpu():
    """Processor seconds of all of them."""
    ticks = 0
    for pid in tree(os.getpid()):
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


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
