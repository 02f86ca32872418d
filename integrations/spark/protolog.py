"""Views for Spark on an archive of `protologtool export parquet`.

    import protolog
    archive = protolog.views(spark, "/srv/archive")
    spark.sql("select time, level, tag, message from log where level = 'ERROR' order by time_ns, tie").show()
    archive.search("timed out").show()

They have the names that they have in integrations/duckdb: `log`, `messages`, `templates`, `lost`, `losses`, `sampled`, `spans`,
`volume_by_site`. `time_ns` is the time in nanoseconds, `time` the same as a timestamp of Spark's, in microseconds.

Messages are rendered by expressions of Spark (`protolog_text.render`), so no row goes to Python.
"""

import decimal
import functools
import json
import operator

from pyspark.sql import functions as F

import protolog_search
import protolog_text

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
# The columns of each table, as `fleet/src/archive/schema.rs` writes them: who knows them need not open a file before it is asked
# for, and one that is damaged fails what asks for its date alone. Files of earlier versions lack the last ones, which are null then.
_COLUMNS = {
    "messages": "time bigint, boot_offset bigint, tie int, time_guessed boolean, source string, host string, pid bigint,"
    " tid bigint, process string, thread string, id string, variant int, level string, unsigned_args bigint,"
    " message_guessed boolean, stack_trace string, text string, args string, rate_kept bigint, rate_of bigint, rate_by bigint,"
    " request string",
    "losses": "time bigint, boot_offset bigint, time_guessed boolean, source string, host string, pid bigint, tid bigint,"
    " process string, thread string, reason string, log_group string, count bigint, duration bigint, after_messages bigint,"
    " place bigint, level string, passed_over bigint",
    "spans": "time bigint, boot_offset bigint, end_time bigint, duration bigint, longest bigint, busy bigint, age bigint,"
    " end_missing boolean, source string, host string, pid bigint, tid bigint, process string, thread string, name string,"
    " target string, span_id bigint, depth bigint, begin_args string, args string, after_messages bigint, place bigint,"
    " end_after_messages bigint, end_place bigint",
    "templates": "id string, variant int, level string, tag string, log_group string, template string, location string,"
    " pieces string, names string",
}
# The kinds of arguments, by the letters of their columns.
_KINDS = {"s": "string", "i": "bigint", "f": "double", "b": "boolean"}
# A template is a list of these.
_PIECES = (
    "array<struct<text: string, kind: string, argument: int, place: int, verb: string, width: int,"
    " zero_pad: boolean, precision: int>>"
)
_KEY = ("program", "build", "id", "variant")


def views(spark, archive):
    """Makes temporary views of the archive at a path or address that Spark can read, and returns what SQL alone can't ask.

    Sets `spark.sql.legacy.parquet.nanosAsLong`, without which Spark refuses nanoseconds.
    """
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    inference = spark.conf.get(_INFERENCE)
    # A build whose name has digits alone is no number.
    spark.conf.set(_INFERENCE, "false")

    def table(name, arguments=""):
        columns = _COLUMNS[name] + arguments
        return _typed(spark.read.schema(columns).parquet(f"{archive.rstrip('/')}/{name}"))

    try:
        damaged = _damaged(spark, f"{archive.rstrip('/')}/templates")
        dictionary = table("templates")
        if damaged:
            dictionary = dictionary.where(~F.col("_metadata.file_path").isin(damaged))
        pieces = _pieces(dictionary)
        timed = _timed(table("messages", _arguments(template for _, template in pieces)))
        losses, spans = _timed(table("losses")), _timed(table("spans"))
    finally:
        spark.conf.set(_INFERENCE, inference)

    messages, templates = _messages(timed), _templates(dictionary)
    archive = Archive(timed, templates, pieces, damaged)
    found = {
        "messages": messages,
        "templates": templates,
        "losses": losses.where("reason <> 'passed_over'").drop("level", "passed_over"),
        "spans": spans,
        "log": _log(messages, templates, archive.kinds),
        "lost": _lost(losses),
        "sampled": _sampled(timed, losses, templates),
        "volume_by_site": _volume_by_site(timed, templates),
    }
    for name, frame in found.items():
        frame.createOrReplaceTempView(name)
    return archive


class Archive:
    """Searches, and the text of a message by its id, of the templates that there were when the views were made."""

    def __init__(self, table, templates, pieces, damaged):
        self.damaged_templates = damaged
        """Files with templates that are damaged: their messages have no texts."""
        self._table = table
        self._messages = _messages(table)
        self._templates = templates
        self._pieces = pieces
        self.kinds = _kinds(template for _, template in pieces)
        """The kinds of arguments that templates have, as `protolog_text.render` takes them."""

    def render(self, of_id, arguments):
        """The text of a message, of its id and the column `arguments` of `messages`: an expression."""
        by_id = json.dumps({f"{row['id']}/{row['variant']}": pieces for row, pieces in self._pieces})
        known = F.from_json(F.lit(by_id), f"map<string, {_PIECES}>")
        args = F.col(arguments)
        key = F.concat(F.col(of_id), F.lit("/"), args["variant"].cast("string"))
        return F.coalesce(args["text"], protolog_text.render(F.element_at(known, key), args, self.kinds))

    def search(self, wanted):
        """The messages that have a text, as rows of `log`: first the templates that may have it are found, then the row groups
        of these alone are read."""
        places = [(row, protolog_search.may_have(pieces, wanted)) for row, pieces in self._pieces]
        log = self._log({row["id"] for row, place in places if place}, F.col("text").isNull())
        always = [row["id"] for row, place in places if place == protolog_search.ALWAYS]
        texts = [row["id"] for row, place in places if place == protolog_search.TEXTS]
        in_texts = F.exists("texts", lambda text: F.contains(text, F.lit(wanted)))
        # Where no template leaves it open, no message is rendered to be found.
        is_open = any(place == protolog_search.SOMEWHERE for _, place in places)
        in_message = F.contains("message", F.lit(wanted)) if is_open else F.lit(False)
        is_found = F.when(F.col("id").isin(always), True).when(F.col("id").isin(texts), in_texts).otherwise(in_message)
        # Of these, the text is not that of the template.
        odd = _log(self._messages.where(F.contains("text", F.lit(wanted))), self._templates, "")
        return log.where(is_found).unionByName(odd)

    def search_templates(self, wanted):
        """The messages whose template has a text, as rows of `log`."""
        places = [(row, protolog_search.may_have(pieces, wanted)) for row, pieces in self._pieces]
        return self._log({row["id"] for row, place in places if place == protolog_search.ALWAYS})

    def search_argument(self, wanted):
        """The messages one of whose arguments is just this text, as rows of `log`: by the filters of the files."""
        columns = [name for name in self._table.columns if name[0] == "s" and name[1:].isdigit()]
        is_it = functools.reduce(operator.or_, (F.col(name) == wanted for name in columns))
        return _log(_messages(self._table.where(is_it)), self._templates, self.kinds)

    def _log(self, ids, *conditions):
        messages = self._messages.where(F.col("id").isin(sorted(ids)))
        for condition in conditions:
            messages = messages.where(condition)
        return _log(messages, self._templates, _kinds(pieces for row, pieces in self._pieces if row["id"] in ids))


def _damaged(spark, directory):
    """Files with templates that are cut off, or have another checksum than their name says: `CONTENT-SUM.parquet`. With them each
    query would fail."""
    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(directory)
    content, path = F.col("content"), F.col("_metadata.file_path")
    mark = F.encode(F.lit("PAR1"), "utf-8")
    is_whole = (F.length(content) >= 12) & (F.substring(content, 1, 4) == mark) & (F.substring(content, -4, 4) == mark)
    has_sum = F.sha2(content, 256).startswith(F.regexp_extract(path, r"/[0-9a-f]{16}-([0-9a-f]{8})\.parquet$", 1))
    return [row[0] for row in files.where(~(is_whole & has_sum)).select(path).collect()]


def _pieces(dictionary):
    """The keys of all templates, and their pieces."""
    rows = _templates(dictionary).select(*_KEY, F.to_json("pieces").alias("pieces")).where("pieces is not null").collect()
    return [(row, json.loads(row["pieces"])) for row in rows]


def _arguments(templates):
    """The columns of arguments that messages of these templates may have."""
    counts = dict.fromkeys(_KINDS, 1)
    for pieces in templates:
        for piece in pieces:
            if piece.get("kind") is not None:
                counts[piece["kind"]] = max(counts[piece["kind"]], piece["place"] + 1)
    return "".join(f", {kind}{n} {of_type}" for kind, of_type in _KINDS.items() for n in range(counts[kind]))


def _kinds(templates):
    """The kinds of arguments that templates have."""
    return "".join(sorted({piece["kind"] for pieces in templates for piece in pieces if piece.get("kind") is not None}))


def _typed(table):
    """Directories as texts: where no program is known, Spark takes the column for one without a type, which equals nothing."""
    return table.withColumn("program", F.col("program").cast("string")).withColumn("build", F.col("build").cast("string"))


def _timed(table):
    """Times as numbers and as timestamps. Rows of a file that says only which columns there are have no date."""
    return (
        table.withColumn("time_ns", F.col("time"))
        .withColumn("time", F.timestamp_micros(_divided(F.col("time"), 1000)))
        .withColumn("date", F.col("date").cast("date"))
    )


def _divided(number, by):
    """The quotient, rounded down. `/` divides floats, and nanoseconds since 1970 have more bits than one."""
    return F.call_function("div", number - F.pmod(number, F.lit(by)), F.lit(by).cast("bigint"))


def _weight():
    """How many messages one stands for: more than itself if it was sampled."""
    return F.coalesce(F.col("rate_of") / F.col("rate_kept"), F.lit(1.0))


def _messages(table):
    """One row for each message that was logged, with its arguments by kind, and all of them as `render` takes them."""

    def arguments(kind):
        columns = [name for name in table.columns if name[0] == kind and name[1:].isdigit()]
        return F.array(*sorted(columns, key=lambda name: int(name[1:])))

    return table.select(
        "time", "time_ns", (F.col("time_ns") + F.col("boot_offset")).alias("boot_time"), "tie", "time_guessed",
        "source", "host", "pid", "tid", "process", "thread", "id", "variant", "level", "unsigned_args",
        "message_guessed", "stack_trace", "text", "args", _weight().alias("weight"), "request", "date", "program", "build",
        arguments("s").alias("texts"),
        arguments("i").alias("integers"),
        arguments("f").alias("floats"),
        arguments("b").alias("bools"),
    ).withColumn("arguments", F.struct("unsigned_args", "texts", "integers", "floats", "bools", "text", "variant"))  # fmt: skip


def _templates(table):
    """One row for each message of each build. Without pieces if they are what no export writes, as in files of others: a message has
    at most 32 arguments, each at most 255 wide, and each takes a column."""

    def is_piece(piece):
        is_argument = piece["kind"].isin(*_KINDS) & piece["place"].between(0, 31) & piece["argument"].between(0, 31)
        widths = piece["width"].between(0, 255) & F.coalesce(piece["precision"].between(0, 255), F.lit(True))
        is_text = piece["text"].isNotNull()
        return F.when(piece["kind"].isNull(), is_text).otherwise(F.coalesce(~is_text & is_argument & widths, F.lit(False)))

    pieces = F.from_json("pieces", _PIECES)
    return table.withColumn("pieces", F.when(F.forall(pieces, is_piece), pieces)).dropDuplicates(_KEY)


def _with_templates(messages, templates):
    """Messages (`m`) with their templates (`t`)."""
    m, t = messages.alias("m"), F.broadcast(templates.alias("t"))
    is_same = [F.col(f"m.{name}").eqNullSafe(F.col(f"t.{name}")) for name in _KEY]
    return m.join(t, is_same[0] & is_same[1] & is_same[2] & is_same[3], "left")


def _log(messages, templates, kinds):
    """What `read-log` shows, by the same names, of templates with arguments of these kinds."""
    arguments = [F.col(f"m.{kind}") for kind in ("texts", "integers", "floats", "bools")]
    rendered = protolog_text.render(F.col("t.pieces"), F.col("m.arguments"), kinds)
    return _with_templates(messages, templates).select(
        "m.time", "m.time_ns", "m.boot_time", "m.tie", "m.host", "m.program", "m.build", "m.date", "m.pid", "m.tid",
        "m.process", "m.thread", "m.level", "t.tag", "t.log_group", "m.id", "t.template", "t.location", "m.stack_trace",
        "m.source", "m.weight", "m.request", *arguments, F.coalesce(F.col("m.text"), rendered).alias("message"),
    )  # fmt: skip


def _lost(losses):
    """What is missing, and why."""
    return (
        losses.where("reason not in ('unended', 'passed_over')")
        .groupBy("date", "host", "program", "log_group", "reason")
        .agg(
            _total(_count("count")).alias("messages"),
            F.count("*").alias("times"),
            F.count_if(F.col("count").isNull()).alias("times_of_unknown_size"),
        )
    )


def _sampled(messages, losses, templates):
    """What sampling did, by group and level: the messages that it kept, those that it passed over, which are not lost, the part
    that was kept, and how many there were by the rates of those that were kept."""
    kind = ("date", "host", "program", "log_group", "level")
    kept = _with_templates(messages.where("rate_of is not null"), templates).select(
        "m.date", "m.host", "m.program", "t.log_group", "m.level", F.lit(1).alias("kept"), F.lit(0).alias("passed_over"),
        (F.col("m.rate_of") / F.col("m.rate_kept")).alias("estimated"),
    )  # fmt: skip
    passed_over = losses.where("reason = 'passed_over'").select(
        *kind, F.lit(0).alias("kept"), "passed_over", F.lit(0.0).alias("estimated")
    )
    kept_of_all = F.col("kept") / (F.col("kept") + F.col("passed_over").cast("double"))
    return (
        kept.unionByName(passed_over)
        .groupBy(*kind)
        .agg(
            F.sum("kept").alias("kept"),
            _total(F.col("passed_over")).alias("passed_over"),
            F.sum("estimated").alias("estimated"),
        )
        .select(*kind, "kept", "passed_over", kept_of_all.alias("rate"), "estimated")
    )


def _count(column):
    """A number of 64 bits that a trace says, without a sign."""
    number = F.col(column).cast("decimal(20,0)")
    return F.when(number < 0, number + F.lit(decimal.Decimal(2**64))).otherwise(number)


def _total(number):
    """A sum that does not fail, whatever traces say."""
    return F.least(F.sum(number.cast("decimal(20,0)")), F.lit(2**63 - 1)).cast("bigint")


def _volume_by_site(table, templates):
    """The messages of each place in the sources, and how many there were before sampling."""
    by_id = table.groupBy(*_KEY).agg(F.count("*").alias("messages"), F.sum(_weight()).alias("estimated"))
    columns = ("m.program", "t.level", "t.log_group", "t.template", "t.location", "m.id")
    return (
        _with_templates(by_id, templates)
        .groupBy(*columns)
        .agg(F.sum("messages").alias("messages"), F.sum("estimated").alias("estimated"))
        .orderBy(F.desc("messages"), "id")
    )
