"""Writes the messages of a log as a CTF 1.8 trace, for babeltrace2: the JSON lines of `read-log` on standard input, a new folder as the argument.

An event class stands for each template, with a field for each argument, and a stream for each thread, as LTTng has them. The text of a template is the name
of the event: babeltrace2 prints names and fields, and does not put them together.
"""

import json
import pathlib
import re
import struct
import sys

HEAD = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; byte_order = le; } := u32;
typealias integer { size = 64; align = 8; signed = true; byte_order = le; } := i64;
typealias integer { size = 8; align = 8; signed = false; byte_order = le; } := u8;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } := f64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = boot; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; byte_order = le; map = clock.boot.value; } := time;
stream { id = 0; event.header := struct { u32 id; time timestamp; }; event.context := struct { u32 tid; }; };
"""


def kind(value):
    """The type of a field."""
    if isinstance(value, bool):
        return "u8"
    if isinstance(value, int):
        return "i64"
    return "f64" if isinstance(value, float) else "string"


def encoded(value):
    """The bytes of a field."""
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, int):
        return struct.pack("<q", (value + 2**63) % 2**64 - 2**63)
    if isinstance(value, float):
        return struct.pack("<d", value)
    return value.replace("\0", "").encode() + b"\0"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir()
    events, streams, metadata = {}, {}, [HEAD]
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] != "message":
            continue
        args = message["args"]
        key = (message["id"], *map(kind, args))
        if key not in events:
            events[key] = len(events)
            fields = " ".join(f"{kind(arg)} arg{at};" for at, arg in enumerate(args))
            name = re.sub(r'[\\"\n]', "_", f"{message['tag']}:{message['template']}")
            metadata.append(f'event {{ id = {events[key]}; name = "{name}"; stream_id = 0; fields := struct {{ {fields} }}; }};\n')
        stream = streams.get(message["tid"])
        if stream is None:
            stream = streams[message["tid"]] = (folder / f"stream_{message['tid']}").open("wb")
            stream.write(struct.pack("<II", 0xC1FC1FC1, 0))
        stream.write(struct.pack("<IQI", events[key], message["ts"], message["tid"]) + b"".join(map(encoded, args)))
    (folder / "metadata").write_text("".join(metadata))


main()
