"""Asks Spark, with two workers, about the archive in the current directory: prints the rows of a query, all messages by
`render`, the numbers of messages that searches find, or what becomes of floats of a file, a line of JSON for each."""

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integrations/spark"))

import protolog
import protolog_text

PIECE = "struct<kind: string, argument: int, place: int, verb: string, width: int, zero_pad: boolean, precision: int, text: string>"


def main():
    command, argument = sys.argv[1:]
    builder = SparkSession.builder.master("local-cluster[2,1,700]").config("spark.executor.memory", "700m")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    if command == "floats":
        rows = floats(spark, argument)
    else:
        archive = protolog.views(spark, ".")
        if command == "query":
            rows = spark.sql(argument)
        elif command == "rendered":
            is_usual = "text is null and message_guessed = false and boot_time is not null"
            messages = spark.table("messages").where(is_usual).orderBy("boot_time", "tie")
            rows = messages.select(archive.render("id", "arguments"))
        else:
            rows = found(archive, json.loads(argument))
    for row in rows if isinstance(rows, list) else rows.collect():
        print(json.dumps(list(row), ensure_ascii=False, default=str))
    spark.stop()


def found(archive, texts):
    """The messages that have each text, that have it in their template, and that have it as an argument, counted."""
    return [
        row
        for text in texts
        for row in [[
            archive.search(text).count(), archive.search_templates(text).count(), archive.search_argument(text).count()
        ]]
    ]  # fmt: skip


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
