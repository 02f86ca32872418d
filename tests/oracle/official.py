"""The official descriptors, and messages turned into JSON that a test can read.

JSON of a message: proto field names; integers as integers, enums by name; bytes as text where they are UTF-8, else
`hex:…`. A field that the descriptors do not know appears under its number: a varint as integer, everything else `hex:…`.
"""

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

# Fields of our own have numbers from here up.
OURS = 1000


def to_json(message):
    """The message as values that the json module can write."""
    out = {}
    for field, value in message.ListFields():
        if field.is_repeated:
            out[field.name] = [_value(field, item) for item in value]
        else:
            out[field.name] = _value(field, value)
    for field in UnknownFieldSet(message):
        out.setdefault(str(field.field_number), []).append(_raw(field.data))
    return out


def unknown_paths(message, prefix=""):
    """Paths of the fields that the descriptors do not know, such as `messages.1000`: a set."""
    found = {f"{prefix}{field.field_number}" for field in UnknownFieldSet(message)}
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in value if field.is_repeated else [value]:
                found |= unknown_paths(item, f"{prefix}{field.name}.")
    return found


def foreign(paths):
    """Those of `paths` that end in a field number which is neither official nor ours, sorted."""
    return sorted(path for path in paths if int(path.rsplit(".", 1)[-1]) < OURS)


def _value(field, value):
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return to_json(value)
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else value
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _text(value)
    return value


def _text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "hex:" + data.hex()


def _raw(data):
    if isinstance(data, int):
        return data
    return "hex:" + data.hex() if isinstance(data, bytes) else str(data)
