// Perfetto's trace_processor (wasm) inside node, without network.
//
// Nothing of Perfetto is in this file: the wasm module and the script that starts it
// (engine_bundle.js, written for a web worker) are read from an unpacked Perfetto UI. The script is
// evaluated in a vm context that looks enough like a worker; then the byte stream of
// trace_processor.proto (TraceProcessorRpcStream: field 1, repeated TraceProcessorRpc) is spoken
// through the message port that it expects. All calls are synchronous once it has booted.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import {webcrypto} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {field, fields, readVarint} from './wire.mjs';

// TraceProcessorRpc: the methods, then where their arguments and results live.
const METHOD = {append: 1, finalize: 2, query: 3, status: 10, reset: 11, register: 13};
const RPC = {sequence: 1, method: 2, invalid: 4, fatal: 5};
const ARGUMENT = {append: 101, query: 103, reset: 107, register: 108};
const RESULT = {append: 201, query: 203, status: 210, finalize: 212, register: 211};

// QueryResult and its CellsBatch; cell types of the latter.
const QUERY_RESULT = {column: 1, error: 2, batch: 3};
const BATCH = {kinds: 1, ints: 2, doubles: 3, blobs: 4, strings: 5};
const CELL = {null: 1, int: 2, double: 3, string: 4, blob: 5};

// Bytes of a trace handed over at once.
const PIECE = 8 << 20;

export class Engine {
  /**
   * Boots trace_processor from `dist`, a Perfetto UI build: the folder with engine_bundle.js or its
   * parent.
   */
  static async boot(dist) {
    const engine = new Engine();
    await engine.#boot(versionFolder(dist));
    return engine;
  }

  /** The console output of trace_processor, to find out why it ended. */
  console = [];

  #port;
  #bytesOfWorker;
  #received = Buffer.alloc(0);
  #answers = [];
  #sequence = 0;

  async #boot(folder) {
    const scope = workerScope(folder, (...words) => this.console.push(words.join(' ')));
    vm.createContext(scope);
    const file = path.join(folder, 'engine_bundle.js');
    vm.runInContext(fs.readFileSync(file, 'utf8'), scope, {filename: file});
    this.#port = {onmessage: null, postMessage: (data) => this.#receive(Buffer.from(data))};
    scope.onmessage({data: this.#port});
    // The script takes its request buffer in a promise continuation.
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#bytesOfWorker = vm.runInContext('Uint8Array', scope);
  }

  /** Forgets the trace. */
  reset() {
    this.#call('reset', Buffer.alloc(0));
  }

  /** Loads a whole trace; throws at the first piece that trace_processor refuses. */
  load(bytes) {
    for (let at = 0; at < bytes.length; at += PIECE) {
      const answers = this.#call('append', bytes.subarray(at, at + PIECE));
      throwIfAny(resultsOf(answers, 'append', 2));
    }
    throwIfAny(resultsOf(this.#call('finalize'), 'finalize', 1));
  }

  /** Makes modules known, [{name, sql}], so that queries can include them. */
  register(modules) {
    const [first] = modules[0].name.split('.');
    const parts = modules.map(({name, sql}) => field(2, Buffer.concat([field(1, name), field(2, sql)])));
    throwIfAny(resultsOf(this.#call('register', Buffer.concat([field(1, first), ...parts])), 'register', 1));
  }

  /** {columns: [name], rows: [[null | bigint | number | string | Buffer]]} */
  query(sql) {
    const columns = [];
    const cells = [];
    for (const answer of this.#call('query', field(1, sql))) {
      for (const [number, result] of answer) {
        if (number !== RESULT.query) continue;
        for (const [part, value] of fields(result)) {
          if (part === QUERY_RESULT.column) columns.push(value.toString());
          else if (part === QUERY_RESULT.error && value.length) throw new Error(value.toString());
          else if (part === QUERY_RESULT.batch) readBatch(value, cells);
        }
      }
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += columns.length) rows.push(cells.slice(at, at + columns.length));
    return {columns, rows};
  }

  /** The version as trace_processor tells it, as in `v52.0-6b9586def`. */
  version() {
    return resultsOf(this.#call('status'), 'status', 2)[0] ?? 'unknown';
  }

  /** Sends one request; the answers, each as a list of [field number, value]. */
  #call(method, argument) {
    const body = [field(RPC.sequence, this.#sequence++), field(RPC.method, METHOD[method])];
    if (argument) body.push(field(ARGUMENT[method], argument));
    const frame = field(1, Buffer.concat(body));
    const data = new this.#bytesOfWorker(frame.length);
    data.set(frame);
    this.#port.onmessage({data});
    const answers = this.#answers.splice(0).map((bytes) => [...fields(bytes)]);
    for (const [number, value] of answers.flat()) {
      if (number === RPC.fatal) throw new Error(`trace_processor: ${value}`);
      if (number === RPC.invalid) throw new Error(`trace_processor does not know method ${value}`);
    }
    return answers;
  }

  #receive(bytes) {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const key = readVarint(this.#received, 0);
      if (!key) return;
      if (key[0] !== 0x0an) throw new Error('lost track of the stream of trace_processor');
      const size = readVarint(this.#received, key[1]);
      if (!size) return;
      const end = size[1] + Number(size[0]);
      if (this.#received.length < end) return;
      this.#answers.push(Buffer.from(this.#received.subarray(size[1], end)));
      this.#received = this.#received.subarray(end);
    }
  }
}

function versionFolder(dist) {
  if (fs.existsSync(path.join(dist, 'engine_bundle.js'))) return dist;
  const found = fs.readdirSync(dist).filter((name) => fs.existsSync(path.join(dist, name, 'engine_bundle.js')));
  if (!found.length) throw new Error(`no engine_bundle.js under ${dist}`);
  return path.join(dist, found.sort().pop());
}

function workerScope(folder, note) {
  class FileRequest { // The script loads the wasm by a synchronous XMLHttpRequest.
    open(_method, url) {
      this.url = url;
    }
    send() {
      const bytes = fs.readFileSync(path.join(folder, path.basename(this.url)));
      this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      this.status = 200;
    }
  }
  const scope = {
    console: {log: note, info: note, debug: note, warn: note, error: note},
    XMLHttpRequest: FileRequest,
    WorkerGlobalScope: class {},
    location: {href: 'http://offline.invalid/engine_bundle.js'},
    crypto: webcrypto, // not a global in node 18
    performance, URL, TextDecoder, TextEncoder,
    setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask,
  };
  scope.self = scope;
  return scope;
}

function resultsOf(answers, method, part) {
  const results = answers.flat().filter(([number]) => number === RESULT[method]);
  return results.flatMap(([, value]) => [...fields(value)].filter(([number]) => number === part)).map(([, value]) => value.toString());
}

function throwIfAny(errors) {
  if (errors.length) throw new Error(errors.join('; '));
}

function readBatch(batch, cells) {
  const part = {kinds: [], ints: [], doubles: [], blobs: [], strings: []};
  for (const [number, value] of fields(batch)) {
    if (number === BATCH.kinds) part.kinds = [...value];
    else if (number === BATCH.ints) part.ints = signedVarints(value);
    else if (number === BATCH.doubles) part.doubles = Array.from({length: value.length / 8}, (_, i) => value.readDoubleLE(i * 8));
    else if (number === BATCH.blobs) part.blobs.push(Buffer.from(value));
    else if (number === BATCH.strings) part.strings = value.toString('utf8').split('\0');
  }
  const [ints, doubles, blobs, strings] = [part.ints, part.doubles, part.blobs, part.strings].map((list) => list.values());
  for (const kind of part.kinds) {
    if (kind === CELL.null) cells.push(null);
    else if (kind === CELL.int) cells.push(ints.next().value);
    else if (kind === CELL.double) cells.push(doubles.next().value);
    else if (kind === CELL.string) cells.push(strings.next().value);
    else if (kind === CELL.blob) cells.push(blobs.next().value);
    else throw new Error(`cell type ${kind}`);
  }
}

function signedVarints(bytes) {
  const out = [];
  for (let at = 0; at < bytes.length; ) {
    let value;
    [value, at] = readVarint(bytes, at);
    out.push(BigInt.asIntN(64, value));
  }
  return out;
}
