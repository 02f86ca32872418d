"""Leaves of the lines of `read-log --format json` what the text of the log has, with times in nanoseconds."""

import json
import sys

for line in sys.stdin:
    entry = json.loads(line)
    if entry["type"] == "message":
        kept = {name: entry.get(name) for name in ("ts", "pid", "tid", "thread", "level", "tag", "message")}
        print(json.dumps(kept, ensure_ascii=False))
