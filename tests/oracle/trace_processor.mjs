#!/usr/bin/env node
// Reads traces with Perfetto's own trace_processor, offline. See engine.mjs for how that runs here.
//
// By hand: each row of each query as one line of JSON. In tests: --serve, where each line of stdin
// is a request
//     {"trace": "a.pftrace", "sql": ["select …", …]}
// and each line of stdout its answer, one of
//     {"tables": [{"columns": […], "rows": [[…], …]}, …], "stats": {…}, "error": null | "…"}
//     {"failure": "…"}
// so that one boot (a second or two) serves many traces. An error is what trace_processor found
// wrong with the trace; what it read before can still be queried. A failure is a wrong request or
// the end of trace_processor.
//
// Cells: integers are exact, whatever their size; reals always have a point or exponent; a blob is
// "hex:…".
import fs from 'node:fs';
import readline from 'node:readline';
import {Engine} from './engine.mjs';

const USAGE = `usage: trace_processor.mjs [--dist DIR] [--stats] [--modules FILE] [--sql QUERY]... TRACE...
       trace_processor.mjs [--dist DIR] --serve | --version
  TRACE         trace files, each read on its own
  --sql QUERY   what to ask each trace (default: its protolog table)
  --modules FILE  the SQL modules of an extension server, for queries to include
  --stats       then list the counters of trace_processor that say that something was lost or wrong
  --serve       answer requests from stdin, a line of JSON each
  --version     print the version of trace_processor
  --dist DIR    an unpacked Perfetto UI (default: environment variable PERFETTO_WEB_DIST)
Exit codes: 0 all read, 1 a trace or query is bad, 2 usage, 3 --stats found something.`;

const PROTOLOG = 'SELECT ts, level, tag, message, location, stacktrace FROM protolog ORDER BY id';

// Errors and losses; and the counters that trace_processor files under "info" although they mean
// lost messages here.
const STATS =
  "SELECT name, idx, severity, source, value FROM stats WHERE value != 0 AND (severity IN ('error', 'data_loss') " +
  "OR name GLOB '*protolog*' OR name IN ('tokenizer_skipped_packets', 'interned_data_tokenizer_errors', " +
  "'invalid_clock_snapshots')) ORDER BY name, idx";

async function main(words) {
  const options = parse(words);
  if (!options) return console.error(USAGE), 2;
  if (options.help) return console.log(USAGE), 0;
  if (!options.dist) return console.error('no Perfetto UI: set PERFETTO_WEB_DIST or give --dist'), 2;
  const reader = new Reader(options.dist, options.modules);
  if (options.version) return console.log((await reader.engine()).version()), 0;
  return options.serve ? serve(reader) : show(reader, options);
}

function parse(words) {
  const options = {dist: process.env.PERFETTO_WEB_DIST, sql: [], traces: []};
  while (words.length) {
    const word = words.shift();
    if (['--stats', '--serve', '--version', '--help'].includes(word)) options[word.slice(2)] = true;
    else if (word === '--dist' && words.length) options.dist = words.shift();
    else if (word === '--modules' && words.length) options.modules = words.shift();
    else if (word === '--sql' && words.length) options.sql.push(words.shift());
    else if (word.startsWith('-')) return null;
    else options.traces.push(word);
  }
  const alone = options.help || options.version || options.serve;
  return alone ? (options.traces.length ? null : options) : (options.traces.length ? options : null);
}

async function serve(reader) {
  for await (const line of readline.createInterface({input: process.stdin, crlfDelay: Infinity})) {
    let answer;
    try {
      const {trace, sql} = JSON.parse(line);
      answer = answerText(await reader.read(trace, sql));
    } catch (problem) {
      answer = JSON.stringify({failure: brief(problem)});
    }
    process.stdout.write(answer + '\n');
  }
  return 0;
}

async function show(reader, {traces, sql, stats}) {
  let code = 0;
  for (const trace of traces) {
    try {
      const reading = await reader.read(trace, sql.length || stats ? sql : [PROTOLOG]);
      for (const table of reading.tables) process.stdout.write(rowLines(table));
      if (stats) process.stdout.write(rowLines(reading.stats));
      if (reading.error) throw new Error(reading.error);
      if (stats && reading.stats.rows.length) code = code || 3;
    } catch (problem) {
      console.error(`${trace}: ${brief(problem)}`);
      code = 1;
    }
  }
  return code;
}

/** One engine for many traces, replaced after a failure. */
class Reader {
  #dist;
  #modules;
  #engine = null;

  constructor(dist, modules) {
    this.#dist = dist;
    this.#modules = modules && JSON.parse(fs.readFileSync(modules, 'utf8')).sql_modules;
  }

  async engine() {
    this.#engine ??= await Engine.boot(this.#dist);
    return this.#engine;
  }

  async read(trace, sql) {
    const bytes = fs.readFileSync(trace);
    const engine = await this.engine();
    this.#engine = null; // Comes back below; after a throw its state is unknown.
    engine.reset();
    let error = null;
    try {
      engine.load(bytes);
    } catch (problem) {
      error = brief(problem);
    }
    if (this.#modules) engine.register(this.#modules);
    const tables = sql.map((query) => engine.query(query));
    const stats = engine.query(STATS);
    if (!error) this.#engine = engine;
    return {tables, stats, error};
  }
}

function answerText({tables, stats, error}) {
  return `{"tables":[${tables.map(tableText).join(',')}],"stats":${tableText(stats)},"error":${JSON.stringify(error)}}`;
}

function tableText({columns, rows}) {
  const lines = rows.map((row) => `[${row.map(cellText).join(',')}]`);
  return `{"columns":${JSON.stringify(columns)},"rows":[${lines.join(',')}]}`;
}

function rowLines({columns, rows}) {
  const object = (row) => row.map((cell, at) => `${JSON.stringify(columns[at])}:${cellText(cell)}`);
  return rows.map((row) => `{${object(row).join(',')}}\n`).join('');
}

function cellText(cell) {
  if (cell === null) return 'null';
  if (typeof cell === 'bigint') return cell.toString();
  if (typeof cell === 'string') return JSON.stringify(cell);
  if (Buffer.isBuffer(cell)) return JSON.stringify('hex:' + cell.toString('hex'));
  if (!Number.isFinite(cell)) return JSON.stringify(String(cell));
  return Number.isInteger(cell) && Math.abs(cell) < 1e21 ? `${cell}.0` : String(cell);
}

// The script of trace_processor is one line of 150 KB, which node puts in front of some errors.
function brief(problem) {
  return String(problem?.message ?? problem).slice(0, 2000);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (problem) {
  console.error(brief(problem));
  process.exitCode = 1;
}
