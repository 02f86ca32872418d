"""Parses every packet of a trace with the official descriptors and prints each as a line of JSON.

usage: python check_trace.py TRACE

    {"packet": {"timestamp": 5, "protolog_message": {"message_id": 1, …}, …}, "unknown": ["1000"]}

`unknown` lists the paths of fields that the descriptors do not know, sorted. Compressed traces and compressed packets
(zlib or gzip, as trace_processor takes them) are opened: their packets appear in place.
Exit codes: 0 parsed, 1 not a trace, or an unknown field that can't be ours (number below 1000), 2 usage.
"""

import json
import sys
import zlib

from google.protobuf.message import DecodeError

import official

GZIP_MAGIC = b"\x1f\x8b"


def main(words):
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(words[0], "rb") as file:
            data = file.read()
        foreign = show(inflate(data) if data.startswith(GZIP_MAGIC) else data)
    except (OSError, DecodeError, zlib.error) as problem:
        print(f"{words[0]}: {problem}", file=sys.stderr)
        return 1
    for path in foreign:
        print(f"{words[0]}: unknown field `{path}` has a number below {official.OURS}", file=sys.stderr)
    return 1 if foreign else 0


def show(data):
    """Prints the packets of a trace; the paths of unknown fields that are not ours."""
    trace = official.proto.Trace()
    trace.ParseFromString(data)
    found = {str(field.field_number) for field in official.UnknownFieldSet(trace)}
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            found |= set(show(inflate(packet.compressed_packets)))
            continue
        unknown = official.unknown_paths(packet)
        print(json.dumps({"packet": official.to_json(packet), "unknown": sorted(unknown)}, ensure_ascii=False))
        found |= unknown
    return official.foreign(found)


def inflate(data):
    """The content of a zlib or gzip stream, which must be whole."""
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    out = stream.decompress(data) + stream.flush()
    if not stream.eof:
        raise zlib.error("the compressed data ends early")
    return out


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
