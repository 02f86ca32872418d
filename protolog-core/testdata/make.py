"""Makes ids.tsv and xxh3.tsv with the PyPI package xxhash, an implementation that shares no code with ours.

usage: python make.py FOLDER
"""

import pathlib
import sys

import xxhash

MESSAGES = [
    ("com/foo/Bar.java", "sent %d bytes to %s", "DEBUG", "com.foo.AppLog.NET"),
    ("com/foo/Bar.java", "sent %d bytes to %s", "INFO", "com.foo.AppLog.NET"),
    ("com/foo/Bar.java", "sent %d bytes to %s", "DEBUG", "com.foo.AppLog.DISK"),
    ("com/foo/Baz.java", "sent %d bytes to %s", "DEBUG", "com.foo.AppLog.NET"),
    ("", "sent %d bytes to %s", "DEBUG", "com.foo.AppLog.NET"),
    ("Main.java", "", "WTF", "Log.A"),
    ("app::net", "sent %d bytes to %s", "DEBUG", "app::AppLog::Net"),
    ("app", "100%% of %04d, %8.3f", "VERBOSE", "app::AppLog::Net"),
    ("app", "a tab\tand a line\nend, a \\ too", "WARN", "app::AppLog::Net"),
    ("app", "größer als %d €, 漢字 and 🦀", "ERROR", "app::AppLog::Größe"),
    ("p", "t" * 200, "INFO", "g::G::X"),
    ("p", "t" * 500, "INFO", "g::G::X"),
    ("com/foo/Bar.java", " ".join(["%d"] * 32), "INFO", "com.foo.AppLog.NET"),
]
# Each length class of the algorithm, its edges, and several stripes and blocks.
LENGTHS = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 144, 200, 239, 240, 241, 255, 256, 512, 1023, 1024, 1025, 2048, 2500]


def escape(field):
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    lines = ["place\ttemplate\tlevel\tgroup\tid\tgroup_id"]
    for place, template, level, group in MESSAGES:
        identity = "\0".join([place, template, level, group]).encode()
        group_id = xxhash.xxh3_64_intdigest(group.encode()) & 0xFFFFFFFF
        fields = [escape(f) for f in (place, template, level, group)]
        lines.append("\t".join([*fields, f"{xxhash.xxh3_64_intdigest(identity):016x}", f"{group_id:08x}"]))
    (folder / "ids.tsv").write_text("\n".join(lines) + "\n")
    lines = ["bytes\thash"]
    for length in LENGTHS:
        data = bytes((i * 131 + (i >> 8) * 17 + length) & 0xFF for i in range(length))
        lines.append(f"{data.hex()}\t{xxhash.xxh3_64_intdigest(data):016x}")
    (folder / "xxh3.tsv").write_text("\n".join(lines) + "\n")


main()
