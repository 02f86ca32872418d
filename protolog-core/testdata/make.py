"""Makes ids.tsv, named_ids.tsv and xxh3.tsv with the PyPI package xxhash, packets.tsv, sampled.tsv, marks.tsv and session.tsv by protobuf's rules, randomness.tsv with xxhash and W3C's trace ids, gaps.tsv by the published
SplitMix64 and Python's logarithms, byte_rates.tsv by those, numbers.tsv with Python's own `%`, which rounds and pads as C's printf does, and controls.tsv from Python's tables of
Unicode: implementations that share no code with ours.

usage: python make.py FOLDER
"""

import itertools
import json
import math
import pathlib
import random
import struct
import sys
import unicodedata

import xxhash

# The arguments of messages whose id is 0x0123456789abcdef. A writer may intern a string twice that comes twice in one message: none has that.
PACKETS = [
    [],
    [1],
    [-1],
    [2**63 - 1, -(2**63)],
    [512, "example.org"],
    [True, False],
    [1.5, -0.0],
    [float("inf"), 64],
    [""],
    ["a", "grün €"],
    [1, "a", 2.5, True],
    ["long " * 40, 7, "b"],
]

# Requests: their numbers, 0 for none, and ids. One has at most 64 bytes.
MARKS = [
    (0, ""),
    (1, ""),
    (1, "GET /cart/17"),
    (127, "7"),
    (128, "grün €"),
    (2**32, "a b/c?d=e"),
    (2**48, "x" * 64),
    (2**48, "x" * 65),
    (3, "ä" * 32),
    (4, "ä" * 33),
    (5, "€" * 22),
    (6, "1" + "€" * 22),
    (7, "𝄞" * 40),
    (2**63 - 1, "x" * 64),
]

# Messages that were sampled: so many of so many were kept, 0 by chance, or by the argument of this number; and their arguments.
SAMPLED = [
    (1, 2, 0, []),
    (1, 100, 0, [1]),
    (1, 127, 0, [True]),
    (1, 128, 0, [-1, 1.5]),
    (2, 3, 0, [512, "example.org"]),
    (127, 16384, 0, ["a", "grün €"]),
    (128, 2_097_153, 0, [7]),
    (1, 1_000_000_000, 0, [2**63 - 1, -(2**63), 0.5]),
    (268_435_457, 1_000_000_000, 0, []),
    (999_999_999, 1_000_000_000, 0, [1, "a", 2.5, True]),
    (3, 1000, 0, ["long " * 40, 7, "b"]),
    (1, 100, 1, [42]),
    (2, 3, 15, [True]),
    (1, 1000, 2, [7, "request-1"]),
]
# Values of arguments by which messages are kept.
TRACE_IDS = ["4bf92f3577b34da6a3ce929d0e0e4736", "0AF7651916CD43DD8448EB211C80319C", "ffffffffffffffffffffffffffffffff", "0" * 32]
TEXTS = ["", "a", "42", "-42", "true", "request-1", "grün €", "192.0.2.7:443", "long " * 60, "f" * 31, "f" * 33, "g" + "f" * 31, "ü" * 16]
TRACE_PARENTS = ["00-%s-00f067aa0ba902b7-01" % id for id in TRACE_IDS]
NO_TRACE_PARENTS = ["00-%s-00f067aa0ba902g7-01" % TRACE_IDS[0], "00-%s+00f067aa0ba902b7-01" % TRACE_IDS[0], "00-%s-00f067aa0ba902b7-1" % TRACE_IDS[0]]
INTEGERS = [0, 1, 9, 10, 42, -1, -42, 2**31, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]
FLOATS = [0.0, -0.0, 1.5, 1e300]

# Rates of gaps, and how many numbers are drawn for each.
GAP_RATES = [(1, 1), (1, 2), (2, 3), (3, 10), (1, 100), (1, 5000), (999, 1000), (1, 1_000_000_000)]
GAPS = 8

# Losses as group, cause and count, as they happen. From 128 on they are messages that sampling passes over, of no known level, then from VERBOSE on. Those of several groups and causes come in the order of group and cause: Java sorts them, Rust
# has them in the order of the first of each.
LOSSES = [
    [],
    [(7, 1, 1)],
    [(0, 1, 1)],
    [(0xFFFFFFFF, 2, 127)],
    [(0x80000000, 3, 128)],
    [(1, 4, 1), (1, 4, 2)],
    [(0, 7, 3), (7, 1, 300), (7, 4, 1), (0xFEDCBA98, 8, 2**40)],
    [(5, 1, 1), (5, 2, 1), (5, 1, 1)],
    [(7, 131, 5)],
    [(0, 128, 300)],
    [(7, 129, 1), (7, 130, 1), (7, 131, 1), (7, 132, 1), (7, 133, 1), (7, 134, 2**40)],
    [(7, 10, 2), (7, 130, 990), (7, 130, 10)],
]
# REALTIME, MONOTONIC and BOOTTIME.
CLOCKS = [
    (0, 0, 0),
    (1_700_000_000_000_000_000, 127, 128),
    (1, 2**35, 2**42),
    (2**63 - 1, 2**63 - 1, 2**63 - 1),
]
# Time, process, thread, its name, the messages of the sequence so far where the buffer keeps them, and losses before the chunk.
CHUNKS = [
    (60_000_000_000, 4711, 4712, "worker", None, []),
    (0, 1, 1, "", None, []),
    (2**56 - 1, 4194304, 127, "grün", 0, []),
    (2**40, 128, 2**22, "fifteen letters", 2**33, []),
    (127, 4711, 4712, "main", None, [(7, 1, 2)]),
    (128, 4711, 4712, "main", None, [(7, 4, 1)]),
    (16384, 4711, 4712, "main", None, [(0, 3, 1), (7, 1, 300), (0xFEDCBA98, 2, 1)]),
    (16384, 4711, 4712, "main", None, [(7, 1, 300), (7, 129, 1)]),
]

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

# Messages whose arguments may have names.
NAMED = [
    ("app::net", "sent %d bytes to %s", "bytes,host", "DEBUG", "app::AppLog::Net"),
    ("app::net", "sent %d bytes to %s", "bytes,", "DEBUG", "app::AppLog::Net"),
    ("app::net", "sent %d bytes to %s", ",host", "DEBUG", "app::AppLog::Net"),
    ("app::net", "sent %d bytes to %s", "host,bytes", "DEBUG", "app::AppLog::Net"),
    ("app::net", "sent %d bytes to %s", "", "DEBUG", "app::AppLog::Net"),
    ("app::net", "sent %d bytes to %s", "bytes,host", "WARN", "app::AppLog::Net"),
    ("", "%s", "größe", "WTF", "g"),
    ("app", "a tab\t%d", "漢字", "INFO", "app::AppLog::Größe"),
    ("", "sent %d bytes=%d request-id=%s", ",bytes,request-id", "INFO", "com.example.Sender"),
    ("", "%s http.status-code=%d", ",http.status-code", "ERROR", "com.example.Sender"),
    ("p", "%d " * 32, ",".join(f"argument_{i}" for i in range(32)), "INFO", "g::G::X"),
]
# Each length class of the algorithm, its edges, and several stripes and blocks.
LENGTHS = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 144, 200, 239, 240, 241, 255, 256, 512, 1023, 1024, 1025, 2048, 2500]
# Floats that round to another number of digits, that lie halfway, and at the ends of what there is.
FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.15, 9.5, 9.995, 9.9999999, 99999.95, 999999.5, 1234567.0, 1e15, 1e16, 1e22,
          1e23, 0.1, 0.0001, 0.00001, 0.000099999999, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
FLOAT_FORMS = ["%f", "%e", "%g", "%.0f", "%.0e", "%.0g", "%.1f", "%.2e", "%.3g", "%.17g", "%.30f", "%12.3f", "%012.3e", "%9g"]
INTEGERS = [0, 1, -1, 7, 8, 42, -42, 65535, 2**31, -(2**31), 2**63 - 1, -(2**63)]
INTEGER_FORMS = ["%d", "%x", "%o", "%5d", "%05d", "%08x", "%20d", "%020d", "%3o", "%030o"]


def escape(field):
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field: bytes, or a number."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def packet(args, rate=(1, 1, 0)):
    """A message's packet but for its time, of a chunk without strings."""
    message = varint(1 << 3 | 1) + struct.pack("<Q", 0x0123456789ABCDEF)
    strings = {}
    for arg in args:
        if isinstance(arg, bool):
            message += field(5, int(arg))
        elif isinstance(arg, int):
            message += field(3, (arg << 1 ^ arg >> 63) & (1 << 64) - 1)
        elif isinstance(arg, float):
            message += varint(4 << 3 | 1) + struct.pack("<d", arg)
        else:
            message += field(2, strings.setdefault(arg, len(strings) + 1))
    kept, of, by = rate
    message += (field(1001, of) if of > 1 else b"") + (field(1002, kept) if kept > 1 else b"") + (field(1003, by) if of > 1 and by else b"")
    interned = b"".join(
        field(36, field(1, iid) + field(2, text.encode())) for text, iid in strings.items()
    )
    head = field(12, interned) + field(13, 2) if interned else b""
    return head + field(104, message)


def shown(arg):
    """An argument as its kind and its value."""
    kind = {bool: "bool", int: "int", float: "float", str: "text"}[type(arg)]
    return f"{kind} {str(arg).lower() if isinstance(arg, bool) else str(arg).replace('inf', 'Infinity')}"


def packets():
    return [(",".join(shown(arg) for arg in args), packet(args).hex()) for args in PACKETS]


def sampled():
    yield "rate\targs\tpacket"
    for kept, of, by, args in SAMPLED:
        rate = f"{kept}/{of}" + (f":arg{by}" if by else "")
        yield f"{rate}\t{','.join(map(shown, args))}\t{packet(args, (kept, of, by)).hex()}"


def marks():
    """A request's number, the program's id of it, and the packet that says that messages belong to it."""
    yield "number\tid\tpacket"
    for number, id in MARKS:
        cut = id.encode()
        if len(cut) > 64:
            cut = cut[:61].decode(errors="ignore").encode() + "…".encode()
        named = (b"\x08" + varint(number) if number else b"") + (b"\x12" + varint(len(cut)) + cut if number else b"")
        yield f"{number}\t{id}\t{(varint(1012 << 3 | 2) + varint(len(named)) + named).hex()}"


def randomness():
    """The kind of a value, the value, and its randomness: the last 56 bits of a trace id, of another value those of a hash."""
    yield "kind\tvalue\trandomness"
    of_hash = lambda data: f"{xxhash.xxh3_64_intdigest(data) % 2**56:014x}"
    for text in TEXTS + NO_TRACE_PARENTS:
        yield f"text\t{text}\t{of_hash(text.encode())}"
    for text, trace_id in zip(TRACE_IDS + TRACE_PARENTS, TRACE_IDS * 2):
        yield f"text\t{text}\t{trace_id[-14:].lower()}"
    for number in INTEGERS:
        yield f"integer\t{number}\t{of_hash(str(number).encode())}"
    for number in FLOATS:
        yield f"float\t{number!r}\t{of_hash(struct.pack('<d', number))}"
    for value in ["true", "false"]:
        yield f"bool\t{value}\t{of_hash(value.encode())}"


def split_mix(state):
    """The output of SplitMix64 in a state (Steele, Lea and Flood 2014)."""
    mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


def gaps():
    """A rate, a state of SplitMix64, the number that it makes of it, and the messages that are passed over before one is kept."""
    yield "rate\tstate\tnumber\tgap"
    state = 20251120
    for kept, of in GAP_RATES:
        for _ in range(GAPS):
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            number = split_mix(state)
            uniform = ((number >> 11) + 1) / 2**53
            gap = 0 if kept == of else int(math.log(uniform) / math.log1p(-kept / of))
            yield f"{kept}/{of}\t{state:016x}\t{number:016x}\t{gap}"


# Intervals of which one byte is kept, and sizes of messages.
INTERVALS = (1, 2, 18, 100, 1000, 1 << 10, 1 << 14, 1 << 19, 999999, 1 << 29, 1000000000)
SIZES = (18, 20, 64, 1000, 4599, 4600, 70000, 1572864, 900000000)


def byte_rates():
    """An interval, a size, and the rate of such messages; none where more than 99 % would be kept."""
    yield "interval\tbytes\trate"
    for interval, size in itertools.product(INTERVALS, SIZES):
        rate = ""
        if size * 10 < interval * 46:
            chance = -math.expm1(size * math.log1p(-1 / interval))
            kept = max(math.floor((2**21 - 1) * chance), 1)
            of = math.floor(kept / chance + 0.5)
            divisor = math.gcd(kept, of)
            rate = f"{kept // divisor}/{of // divisor}"
        yield f"{interval}\t{size}\t{rate}"


# Levels have other numbers in traces.
PASSED_OVER_LEVELS = {129: 2, 130: 1, 131: 3, 132: 4, 133: 5, 134: 6}


def loss_field(group, cause, count):
    group = field(1, group) if group else b""
    if cause < 128:
        return field(1001, group + field(2, cause) + field(3, count))
    level = field(2, PASSED_OVER_LEVELS[cause]) if cause > 128 else b""
    return field(1009, group + level + field(3, count))


def losses_field(losses):
    totals = {}
    for group, cause, count in losses:
        totals[group, cause] = totals.get((group, cause), 0) + count
    return b"".join(loss_field(group, cause, count) for (group, cause), count in totals.items())


def clock(number, time, is_incremental=False):
    return field(1, field(1, number) + field(2, time) + (field(3, 1) if is_incremental else b""))


def chunk(time, pid, tid, name, messages, losses):
    """The packet that a chunk begins with."""
    is_dropped = any(cause in (1, 2) for _, cause, _ in losses)
    thread = field(1, pid) + field(2, tid) + field(3, name.encode())
    count = b"" if messages is None else field(4, messages)
    return (
        field(6, clock(64, time, True) + clock(6, time))
        + field(13, 1)
        + (field(42, 1) if is_dropped else b"")
        + field(59, field(58, 64))
        + field(1000, thread + count)
        + losses_field(losses)
    )


def session():
    """What a session writes beside messages: its kind, what it is made from, and the fields of its packet."""
    yield "kind\tinput\tfields"
    shown = lambda losses: ";".join(" ".join(map(str, loss)) for loss in losses)
    for losses in LOSSES:
        yield f"losses\t{shown(losses)}\t{losses_field(losses).hex()}"
    for realtime, monotonic, boottime in CLOCKS:
        clocks = clock(1, realtime) + clock(3, monotonic) + clock(6, boottime)
        yield f"clocks\t{realtime} {monotonic} {boottime}\t{field(6, clocks + field(2, 6)).hex()}"
    for time, pid, tid, name, messages, losses in CHUNKS:
        count = "-" if messages is None else messages
        packet = chunk(time, pid, tid, name, messages, losses)
        yield f"chunk\t{time},{pid},{tid},{name},{count},{shown(losses)}\t{packet.hex()}"


def main():
    folder = pathlib.Path(sys.argv[1])
    lines = ["place\ttemplate\tlevel\tgroup\tid\tgroup_id"]
    for place, template, level, group in MESSAGES:
        identity = "\0".join([place, template, level, group]).encode()
        group_id = xxhash.xxh3_64_intdigest(group.encode()) & 0xFFFFFFFF
        fields = [escape(f) for f in (place, template, level, group)]
        lines.append("\t".join([*fields, f"{xxhash.xxh3_64_intdigest(identity):016x}", f"{group_id:08x}"]))
    (folder / "ids.tsv").write_text("\n".join(lines) + "\n")
    lines = ["place\ttemplate\tnames\tlevel\tgroup\tid"]
    for place, template, names, level, group in NAMED:
        identity = "\0".join([place, template, *([names] if names else []), level, group]).encode()
        fields = [escape(f) for f in (place, template, names, level, group)]
        lines.append("\t".join([*fields, f"{xxhash.xxh3_64_intdigest(identity):016x}"]))
    (folder / "named_ids.tsv").write_text("\n".join(lines) + "\n")
    lines = ["bytes\thash"]
    for length in LENGTHS:
        data = bytes((i * 131 + (i >> 8) * 17 + length) & 0xFF for i in range(length))
        lines.append(f"{data.hex()}\t{xxhash.xxh3_64_intdigest(data):016x}")
    (folder / "xxh3.tsv").write_text("\n".join(lines) + "\n")
    lines = ["args\tpacket", *("\t".join(row) for row in packets())]
    (folder / "packets.tsv").write_text("\n".join(lines) + "\n")
    (folder / "sampled.tsv").write_text("\n".join(sampled()) + "\n")
    (folder / "marks.tsv").write_text("\n".join(marks()) + "\n")
    (folder / "randomness.tsv").write_text("\n".join(randomness()) + "\n")
    (folder / "gaps.tsv").write_text("\n".join(gaps()) + "\n")
    (folder / "byte_rates.tsv").write_text("\n".join(byte_rates()) + "\n")
    (folder / "session.tsv").write_text("\n".join(session()) + "\n")
    (folder / "numbers.tsv").write_text("\n".join(numbers()) + "\n")
    (folder / "controls.tsv").write_text("\n".join(controls()) + "\n")


def controls():
    """Characters that control a terminal, a line or the direction of writing, with their escapes in lines of text and in JSON."""
    yield "code\tline\tjson"
    directions = ("LEFT-TO-RIGHT", "RIGHT-TO-LEFT", "POP DIRECTIONAL", "FIRST STRONG", "ARABIC LETTER MARK")
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        category = unicodedata.category(char)
        is_direction = category == "Cf" and unicodedata.name(char, "").startswith(directions)
        if is_direction or category in ("Cc", "Zl", "Zp"):
            line = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(char, f"\\u{{{code:x}}}")
            quoted = json.dumps(char)[1:-1]
            if quoted == char:
                quoted = f"\\u{code:04x}"
            yield f"{code:04x}\t{line}\t{quoted}"


def numbers():
    """A conversion, the 64 bits of its argument in hexadecimal, and what it prints."""
    yield "conversion\tbits\ttext"
    pick = random.Random(20251120)
    drawn = (struct.unpack("<d", pick.randbytes(8))[0] for _ in itertools.count())
    finite = (value for value in drawn if value - value == 0)
    for form in FLOAT_FORMS:
        for value in [*FLOATS, *itertools.islice(finite, 8), *(pick.gauss(0, 1000) for _ in range(8))]:
            yield f"{form}\t{struct.pack('>d', value).hex()}\t{form % value}"
    for form in INTEGER_FORMS:
        for value in [*INTEGERS, *(pick.getrandbits(64) - 2**63 for _ in range(4))]:
            # Python has no two's complement in `%x` and `%o`.
            shown = value if form.endswith("d") else value & (2**64 - 1)
            yield f"{form}\t{value & (2**64 - 1):016x}\t{form % shown}"


main()
