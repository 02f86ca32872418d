"""Compares two files of framed messages, and writes Python's own form of the first: SCHEMA BEFORE AFTER OWN TYPE..."""

import pathlib
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def frames(path):
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        root, size = struct.unpack_from("<BI", data, at)
        yield root, data[at + 5 : at + 5 + size]
        at += 5 + size


def main():
    schema, before, after, own, *names = sys.argv[1:]
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(schema).read_bytes())
    for file in files.file:
        pool.Add(file)
    types = [message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names]
    count = 0
    with open(own, "wb") as out:
        for (root, one), (other_root, other) in zip(frames(before), frames(after), strict=True):
            assert root == other_root
            message = types[root].FromString(one)
            if message != types[root].FromString(other):
                sys.exit(f"message {count} is another one: {one.hex()} became {other.hex()}")
            data = message.SerializeToString()
            out.write(struct.pack("<BI", root, len(data)) + data)
            count += 1
    print(count, "messages are the same")


main()
