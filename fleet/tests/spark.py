"""Asks Spark, with two workers, about archives: for each line of JSON that comes, the directory of an archive, a command and what
it takes, prints the rows, a line of JSON for each, and then an empty line.

The commands print the rows of a query, all messages by `render`, the numbers of messages that searches find, or what becomes of
floats of a file. One session answers all, since a driver and two workers take longer to start than all the questions.
"""

import json
import pathlib
import sys
import time
import traceback

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integrations/spark"))

import protolog
import protolog_text

PIECE = "struct<kind: string, argument: int, place: int, verb: string, width: int, zero_pad: boolean, precision: int, text: string>"


def main():
    builder = SparkSession.builder.master("local-cluster[2,1,700]").config("spark.executor.memory", "700m")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    # As many as there are workers: an empty partition is a task, too.
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    # The compiler that starts soon takes half of the time of the one that makes fast code.
    for process in ("driver", "executor"):
        builder = builder.config(f"spark.{process}.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    # Questions that fail are asked, too.
    builder = builder.config("spark.task.maxFailures", "1")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    made_of, views = None, None
    for line in sys.stdin:
        archive, command, argument = json.loads(line)
        begun = time.monotonic()
        try:
            if command != "floats" and archive != made_of:
                made_of, views = archive, protolog.views(spark, archive)
            for row in answer(spark, views, command, argument):
                print(json.dumps(list(row), ensure_ascii=False, default=str))
        except Exception:
            # What follows is asked by other tests.
            print(json.dumps(traceback.format_exc()))
        print(flush=True)
        print(f"{time.monotonic() - begun:.1f} s: {command} {argument[:60]}", file=sys.stderr, flush=True)
    spark.stop()


def answer(spark, views, command, argument):
    """The rows of one question."""
    if command == "floats":
        return floats(spark, argument).collect()
    if command == "query":
        return spark.sql(argument).collect()
    if command == "damaged":
        return [[path] for path in views.damaged_templates]
    if command == "rendered":
        is_usual = "text is null and message_guessed = false and boot_time is not null"
        messages = spark.table("messages").where(is_usual).orderBy("boot_time", "tie")
        return messages.select(views.render("id", "arguments")).collect()
    return found(views, json.loads(argument))


def found(archive, texts):
    """The messages that have each text, that have it in their template, and that have it as an argument, counted."""
    return [
        [archive.search(text).count(), archive.search_templates(text).count(), archive.search_argument(text).count()]
        for text in texts
    ]


def floats(spark, path):
    """The text of each float, given by its bits, in the conversion beside it."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    pieces = [
        (float.fromhex(value), [("f", 0, 0, verb, width, zeros, precision, None)])
        for value, verb, width, zeros, precision in lines
    ]
    frame = spark.createDataFrame(pieces, f"value double, pieces array<{PIECE}>")
    none = F.array()
    args = F.struct(
        F.lit(0).cast("bigint").alias("unsigned_args"), none.cast("array<string>").alias("texts"),
        none.cast("array<bigint>").alias("integers"), F.array("value").alias("floats"),
        none.cast("array<boolean>").alias("bools"),
    )  # fmt: skip
    return frame.select(protolog_text.render(F.col("pieces"), args))


main()
