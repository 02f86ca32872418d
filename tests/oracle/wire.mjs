// Just enough protobuf to talk to trace_processor: writing a request's fields, reading an answer's.
//
// Values: a varint is a BigInt, a length-delimited field a Buffer, a fixed-size field a Buffer of 8
// or 4 bytes.

/**
 * One field of any length: tag, then a varint (bigint or number) or a length and bytes (Buffer or
 * string).
 */
export function field(number, value) {
  if (typeof value === 'bigint' || typeof value === 'number') {
    return Buffer.concat([varint((number << 3) | 0), varint(value)]);
  }
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

/** Yields [field number, value] for each field of `buffer`. */
export function* fields(buffer) {
  let at = 0;
  while (at < buffer.length) {
    let key;
    [key, at] = mustRead(buffer, at);
    const number = Number(key >> 3n);
    const wireType = Number(key & 7n);
    if (wireType === 0) {
      let value;
      [value, at] = mustRead(buffer, at);
      yield [number, value];
      continue;
    }
    let size = {1: 8n, 5: 4n}[wireType];
    if (wireType === 2) [size, at] = mustRead(buffer, at);
    if (size === undefined) throw new Error(`wire type ${wireType} in an answer`);
    const end = at + Number(size);
    if (end > buffer.length) throw new Error('an answer ends inside a field');
    yield [number, buffer.subarray(at, end)];
    at = end;
  }
}

/** [value, position after it], or null where the buffer ends inside the varint. */
export function readVarint(buffer, at) {
  let value = 0n;
  for (let shift = 0n; at < buffer.length; shift += 7n) {
    const byte = buffer[at++];
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at];
  }
  return null;
}

function mustRead(buffer, at) {
  const read = readVarint(buffer, at);
  if (!read) throw new Error('an answer ends inside a varint');
  return read;
}

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const out = [];
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Buffer.from(out);
}
