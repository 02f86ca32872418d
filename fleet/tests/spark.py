"""Asks Spark, with two workers, about the archive in the current directory: prints the rows of a query, or what becomes of
floats of a file, a line of JSON for each."""

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
    if command == "query":
        protolog.views(spark, ".")
        rows = spark.sql(argument)
    else:
        rows = floats(spark, argument)
    for row in rows.collect():
        print(json.dumps(list(row), ensure_ascii=False, default=str))
    spark.stop()


def floats(spark, path):
    """The text of each float, given by its bits, in the conversion beside it."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    pieces = [
        (float.fromhex(value), [("f", 0, 0, verb, width, zeros, precision, None)])
        for value, verb, width, zeros, precision in lines
    ]
    frame = spark.createDataFrame(pieces, f"value double, pieces array<{PIECE}>")
    none = F.array()
    shown = protolog_text.render(
        F.col("pieces"), F.lit(0).cast("bigint"), none.cast("array<string>"), none.cast("array<bigint>"),
        F.array("value"), none.cast("array<boolean>"),
    )  # fmt: skip
    return frame.select(shown)


main()
