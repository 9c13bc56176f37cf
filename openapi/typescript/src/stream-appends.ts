/**
 * Appending to a stream, trimming it and deleting entries.
 *
 * This module owns chunks, idempotency keys and the headers of appends. The generated client sends the
 * requests.
 */
import type { Waiting } from "./calls.js";
import { type Fields, type WireContent, toWire } from "./entries.js";
import { refusedHere } from "./errors.js";
import * as api from "./generated/index.js";
import { isMissing } from "./missing.js";
import { StreamBase } from "./stream-base.js";

/** The producer of an append, and the trace that it belongs to. */
export interface ProducerOptions extends Waiting {
  /**
   * The producer of the idempotency keys. Set it for a producer that restarts and sends the same entries
   * again.
   */
  readonly producerId?: string;
  /** The server keeps the keys of this epoch and the one before, without a time limit. */
  readonly producerEpoch?: number;
  /** The first request of an epoch pins it; another layout in that epoch is an error. */
  readonly producerLayout?: string;
  /** A W3C trace context, which the server adds to the entries as a field of that name. */
  readonly traceparent?: string;
}

/** The producer of an append, and the key of one request. */
export interface KeyOptions extends ProducerOptions {
  /**
   * Appends once for each key of a producer, however often the request is sent; so it is repeated after a
   * lost response. Without a key, a lost response is an error with `sideEffects: "unknown"`.
   */
  readonly idempotencyKey?: string;
}

export interface AppendOptions extends KeyOptions {
  /** `ms-seq`, `ms` or `ms-*`; by default the server chooses the id. */
  readonly id?: string;
  readonly trim?: api.Trimming;
  /** Refuse the append (404) if the stream does not exist, instead of creating it. */
  readonly nomkstream?: boolean;
  /** Append only if this is the last id of the stream; otherwise the error has status 412. */
  readonly ifLastId?: string;
}

export interface AppendManyOptions extends ProducerOptions {
  /** The number of entries of one request, which appends all or none; 1 000 by default. */
  readonly chunk?: number;
  /** The beginning of each chunk's key. */
  readonly keyPrefix?: string;
}

export interface AppendBatchOptions extends KeyOptions {
  /** One explicit id for each entry. */
  readonly ids?: readonly string[];
  readonly trim?: api.Trimming;
  /** Append only if this is the last id of the stream; otherwise the error has status 412. */
  readonly ifLastId?: string;
}

export interface ImportOptions extends KeyOptions {
  /** `fields`, the default: each line is an object of fields. `entry`: each line is an entry. */
  readonly shape?: "fields" | "entry";
  /** The compression of the body. */
  readonly contentEncoding?: "gzip" | "zstd";
}

/** NDJSON: one JSON object in each line. */
export type Lines = string | Blob | Uint8Array<ArrayBuffer>;

export abstract class StreamAppends extends StreamBase {
  /** Appends one entry and returns its id. */
  async append(fields: Fields, options: AppendOptions = {}): Promise<string> {
    const { id, trim, nomkstream, ifLastId, signal } = options;
    const body = { ...toWire(fields), id, trim, nomkstream, if_last_id: ifLastId };
    const append = { path: this.path, body, headers: headersOf(options) };
    const repeatable = options.idempotencyKey !== undefined;
    const called = { repeatable, signal };
    const reply = await this.calls.call((common) => api.xadd({ ...common, ...append }), called);
    return "id" in reply ? reply.id : reply.scheduled_id;
  }

  /**
   * Appends all entries in order, in requests of `chunk` entries, and returns how many there were.
   *
   * Each request appends all of its entries or none, and carries an idempotency key: it is repeated after a
   * lost response and appends nothing twice. If this throws, the earlier chunks are appended.
   */
  async appendMany(
    entries: Iterable<Fields> | AsyncIterable<Fields>,
    options: AppendManyOptions = {},
  ): Promise<number> {
    const { chunk = 1_000, producerId = randomName(), keyPrefix = randomName(), signal } = options;
    let count = 0;
    let number = 0;
    for await (const some of chunksOf(entries, chunk)) {
      const headers = headersOf({ ...options, producerId, idempotencyKey: `${keyPrefix}-${number++}` });
      const request = { path: this.path, headers, ...importOf(some.map(toWire)) };
      const reply = await this.calls.call((common) => api.importEntries({ ...common, ...request }), {
        repeatable: true,
        signal,
      });
      count += reply.count;
    }
    return count;
  }

  /** Appends entries in one request, all or none, and returns their ids. */
  async appendBatch(entries: readonly Fields[], options: AppendBatchOptions = {}): Promise<string[]> {
    const { ids, trim, ifLastId, signal } = options;
    if (ids !== undefined && ids.length !== entries.length)
      throw refusedHere(`there are ${ids.length} ids for ${entries.length} entries; pass one id for each`);
    const wired = entries.map((fields, index) => ({ ...toWire(fields), id: ids?.[index] }));
    const body = { entries: wired, trim, if_last_id: ifLastId };
    const request = { path: this.path, body, query: { ids: true }, headers: headersOf(options) };
    const called = { repeatable: options.idempotencyKey !== undefined, signal };
    const reply = await this.calls.call((common) => api.xaddBatch({ ...common, ...request }), called);
    return ("ids" in reply ? reply.ids : undefined) ?? [];
  }

  /** Appends NDJSON in one request, all lines or none. */
  importLines(lines: Lines, options: ImportOptions = {}): Promise<api.BatchReply> {
    const request = { path: this.path, ...linesOf(lines, options) };
    const called = { repeatable: options.idempotencyKey !== undefined, signal: options.signal };
    return this.calls.call((common) => api.importEntries({ ...common, ...request }), called);
  }

  /** Checks the request that `importLines` would send, and appends nothing. */
  checkLines(lines: Lines, options: ImportOptions = {}): Promise<api.ImportCheck> {
    const request = { path: this.path, ...linesOf(lines, options) };
    const called = { repeatable: true, signal: options.signal };
    return this.calls.call((common) => api.checkImport({ ...common, ...request }), called);
  }

  /** Removes the oldest entries, by the rule, and returns how many were removed. */
  async trim(rule: api.Trimming, options: Waiting = {}): Promise<number> {
    const request = { path: this.path, body: rule };
    // A repeated trim by length would also remove entries that others were appended after meanwhile.
    const called = { repeatable: rule.max_length === undefined, ...options };
    return (await this.calls.call((common) => api.xtrim({ ...common, ...request }), called)).trimmed;
  }

  /** Deletes one entry. Returns whether it existed. */
  async deleteEntry(id: string, options: Waiting = {}): Promise<boolean> {
    const path = { ...this.path, id };
    const called = { repeatable: false, ...options };
    try {
      await this.calls.call((common) => api.deleteEntry({ ...common, path }), called);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Deletes entries and returns the result of each. */
  deleteEntries(
    ids: readonly string[],
    options: Waiting & { readonly references?: "keep" | "delete" | "acknowledged" } = {},
  ): Promise<api.DeleteReply> {
    const { references, signal } = options;
    const request = { path: this.path, body: { ids: [...ids], references } };
    return this.calls.call((common) => api.xdel({ ...common, ...request }), { repeatable: true, signal });
  }
}

/** Returns the headers of an append. */
export function headersOf(options: KeyOptions) {
  const { idempotencyKey, producerId, producerEpoch, producerLayout, traceparent } = options;
  if (idempotencyKey === undefined && (producerEpoch ?? producerLayout) !== undefined)
    throw refusedHere("producerEpoch and producerLayout need an idempotencyKey; pass one");
  const key = idempotencyKey !== undefined && {
    "Idempotency-Key": idempotencyKey,
    "Producer-Id": producerId ?? "tailrace-client",
    ...(producerEpoch === undefined ? {} : { "Producer-Epoch": producerEpoch }),
    ...(producerLayout === undefined ? {} : { "Producer-Layout": producerLayout }),
  };
  const trace = traceparent !== undefined && { "Tailrace-Trace": "entry" as const, traceparent };
  return { ...key, ...trace };
}

function linesOf(lines: Lines, options: ImportOptions) {
  const { shape, contentEncoding } = options;
  const encoding = contentEncoding === undefined ? {} : { "content-encoding": contentEncoding };
  const body = lines instanceof Blob ? lines : new Blob([lines]);
  return { body, query: { shape }, headers: { ...headersOf(options), ...encoding } };
}

function importOf(entries: readonly WireContent[]): { body: Blob; query: { shape: "fields" | "entry" } } {
  const plain = entries.every((entry) => entry.fields !== undefined);
  const lines = entries.map((entry) => JSON.stringify(plain ? entry.fields : entry));
  return { body: new Blob([lines.join("\n")]), query: { shape: plain ? "fields" : "entry" } };
}

async function* chunksOf<T>(items: Iterable<T> | AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length >= size) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Returns 128 random bits. (`crypto.randomUUID` is missing on pages without TLS.) */
function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
