"""Sizes of the messages of archives in other orders: the table of docs/lab/archive.md.

    protologtool export parquet -o ARCHIVE TRACE
    python bench/fleet/orders.py ARCHIVE...

Prints a row for each order, and for each archive bytes a message: of the columns of `messages`, each in the smallest of the
encodings that the exporter has for it, by pyarrow with zstd -9; one row group for each of the exporter's blocks, no filters.
Twice, with pages of 1 MiB, and of 8 MiB, with which zstd sees all of a column of a row group at once.
"""

import io
import pathlib
import sys

import pyarrow
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.parquet

BLOCK = 131_072
PAGES = (1 << 20, 8 << 20)
ORDERS = {
    "id, first text": ("id", "variant", "s0"),
    "id, first place of the text": ("id", "variant", "place"),
    "first text, id": ("s0", "id", "variant"),
    "first place of the text, id": ("place", "id", "variant"),
    "thread, id, time": ("tid", "id"),
    "thread, time": ("tid",),
    "time": (),
}


def main():
    logs = [messages(pathlib.Path(archive)) for archive in sys.argv[1:]]
    counts = ", ".join(f"{log.num_rows:,}" for log in logs)
    print(f"pyarrow {pyarrow.__version__}; messages: {counts}\n")
    columns = [f"{pathlib.Path(archive).name}, pages of {page >> 20} MiB" for archive in sys.argv[1:] for page in PAGES]
    print(f"| order in a block | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
    for name, order in ORDERS.items():
        sizes = [size(log, order, page) / log.num_rows for log in logs for page in PAGES]
        print(f"| {name} | {' | '.join(f'{size:.1f}' for size in sizes)} |", flush=True)


def messages(archive):
    """The messages by time, as the exporter gets them."""
    # Files of other builds have other columns of arguments.
    files = [str(path) for path in (archive / "messages").rglob("*.parquet") if path.name != "none.parquet"]
    if not files:
        sys.exit(f"no messages in `{archive}`")
    schema = pyarrow.unify_schemas([pyarrow.parquet.read_schema(path) for path in files])
    table = pyarrow.dataset.dataset(files, schema=schema).to_table()
    return table.sort_by([("time", "ascending"), ("tie", "ascending")])


def size(log, order, page):
    """The bytes of all columns, each in its smallest encoding."""
    total = 0
    for start in range(0, log.num_rows, BLOCK):
        block = log.slice(start, BLOCK)
        smallest = {}
        for encoding in ("dictionary", "shared", "differences", "plain"):
            for column, taken in sizes(in_order(block, order), encoding, page).items():
                smallest[column] = min(taken, smallest.get(column, taken))
        total += sum(smallest.values())
    return total


def in_order(block, order):
    """The rows of a block, which is by time, sorted by these columns."""
    keys = block.select(["id", "variant", "tid"]).append_column("row", pyarrow.array(range(block.num_rows)))
    # Rows without a text stand before all others.
    keys = keys.append_column("s0", pc.fill_null(block["s0"], ""))
    if "place" in order:
        first = keys.group_by("s0").aggregate([("row", "min")]).rename_columns({"row_min": "place"})
        keys = keys.join(first, "s0")
    indices = pc.sort_indices(keys, [(key, "ascending") for key in (*order, "row")])
    return block.take(pc.take(keys["row"], indices))


def sizes(block, encoding, page):
    """The bytes of each column that can have an encoding."""
    kinds = {field.name: kind(field) for field in block.schema}
    names = {
        # One for numbers that are arguments costs more than it saves.
        "dictionary": [name for name, of in kinds.items() if of in ("text", "other")],
        "shared": [name for name, of in kinds.items() if of == "text"],
        "differences": [name for name, of in kinds.items() if of in ("number", "float")],
        "plain": list(kinds),
    }[encoding]
    chosen = {"text": "DELTA_BYTE_ARRAY", "number": "DELTA_BINARY_PACKED", "float": "BYTE_STREAM_SPLIT"}
    options = {"use_dictionary": encoding == "dictionary"}
    if encoding == "plain":
        options["column_encoding"] = {name: "PLAIN" for name in names}
    elif encoding != "dictionary":
        options["column_encoding"] = {name: chosen[kinds[name]] for name in names}
    out = io.BytesIO()
    pyarrow.parquet.write_table(
        block.select(names), out, compression="zstd", compression_level=9, row_group_size=BLOCK, data_page_size=page,
        max_rows_per_page=BLOCK, dictionary_pagesize_limit=page, store_schema=False, **options,
    )  # fmt: skip
    group = pyarrow.parquet.ParquetFile(out).metadata.row_group(0)
    return {name: group.column(index).total_compressed_size for index, name in enumerate(names)}


def kind(field):
    """The kind of a column: `number` and `float` are arguments and the time, as the exporter has it."""
    if pyarrow.types.is_string(field.type):
        return "text"
    is_argument = field.name[1:].isdigit()
    if is_argument and pyarrow.types.is_floating(field.type):
        return "float"
    is_number = pyarrow.types.is_integer(field.type) and is_argument or field.name == "time"
    return "number" if is_number else "other"


main()
