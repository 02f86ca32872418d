"""Parses a dictionary (.pb) with the official descriptors and prints it as one JSON object.

usage: python check_dictionary.py DICTIONARY.pb [COPY.pb]

    {"messages": [{"message_id": 1, "message": "…", "level": "…", "group_id": 2, "location": "…"}, …],
     "groups": [{"id": 2, "name": "…", "tag": "…"}, …],
     "unknown": ["messages.1000"]}

`unknown` lists the paths of fields that the descriptors do not know, sorted, each once; their values appear in the
message under their number. COPY is written as the official library writes what it read.
Exit codes: 0 parsed, 1 not a dictionary, 2 usage.
"""

import json
import sys

from google.protobuf.message import DecodeError

import official


def main(words):
    if len(words) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    config = official.proto.ProtoLogViewerConfig()
    try:
        with open(words[0], "rb") as file:
            config.ParseFromString(file.read())
    except (OSError, DecodeError) as problem:
        print(f"{words[0]}: {problem}", file=sys.stderr)
        return 1
    out = {"messages": [], "groups": [], **official.to_json(config)}
    out["unknown"] = sorted(official.unknown_paths(config))
    print(json.dumps(out, ensure_ascii=False))
    for copy in words[1:]:
        with open(copy, "wb") as file:
            file.write(config.SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
