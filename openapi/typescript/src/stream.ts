/**
 * One stream over HTTP: append to it, read ranges, follow it.
 *
 * This module owns chunks and their idempotency keys, and resumes broken exports. The generated client sends
 * the requests; `tail.ts` contains the tail, and `group.ts` the groups.
 */
import { linesOf } from "./byte-streams.js";
import type { Calls, Waiting } from "./calls.js";
import {
  type Entry,
  type EntryForm,
  type Fields,
  type WireContent,
  checkedName,
  fromWire,
  toWire,
} from "./entries.js";
import * as api from "./generated/index.js";
import { Group } from "./group.js";
import { resumed } from "./resuming.js";
import { type TailOptions, tail } from "./tail.js";
import type { Session } from "./websocket/session.js";
import { type SubscribeOptions, Subscription } from "./websocket/subscriptions.js";

export interface AppendOptions extends Waiting {
  /** `ms-seq`, `ms` or `ms-*`; by default the server chooses the id. */
  readonly id?: string;
  /**
   * Appends once for each key of a producer, however often the request is sent; so it is repeated after a
   * lost response. Without a key, a lost response is an error with `sideEffects: "unknown"`.
   */
  readonly idempotencyKey?: string;
  readonly producerId?: string;
  readonly trim?: api.Trimming;
  /** Refuse the append (404) if the stream does not exist, instead of creating it. */
  readonly nomkstream?: boolean;
  /** Append only if this is the last id of the stream; otherwise the error has status 412. */
  readonly ifLastId?: string;
}

export interface AppendManyOptions extends Waiting {
  /** The number of entries of one request, which appends all or none; 1 000 by default. */
  readonly chunk?: number;
  /**
   * The producer of the idempotency keys. Set it for a producer that restarts and sends the same entries
   * again.
   */
  readonly producerId?: string;
  /** The beginning of each chunk's key. */
  readonly keyPrefix?: string;
}

export interface ReadOptions extends Waiting, EntryForm {
  /**
   * An id, a time in milliseconds, or `(id` for the entries after that id; `-`, the first entry, by default.
   */
  readonly start?: string;
  /** The last id; `+`, the last entry, by default. */
  readonly end?: string;
  /** Only entries that match, such as `fields.status == "failed"`. The server tests them. */
  readonly filter?: string;
  /** Stop after this many entries. */
  readonly count?: number;
}

/** A stream by its key. Creating this object sends no request. */
export class Stream {
  constructor(
    readonly key: string,
    private readonly calls: Calls,
    private readonly session: Session,
  ) {
    checkedName(key, "the stream's key");
  }

  /** Returns the consumer group with this name. This sends no request. */
  group(name: string): Group {
    return new Group(this.key, name, this.calls, this.session);
  }

  /** Appends one entry and returns its id. */
  async append(fields: Fields, options: AppendOptions = {}): Promise<string> {
    const { id, trim, nomkstream, ifLastId, idempotencyKey, signal } = options;
    const body = { ...toWire(fields), id, trim, nomkstream, if_last_id: ifLastId };
    const headers = idempotencyKey === undefined ? {} : keyHeaders(options.producerId, idempotencyKey);
    const append = { path: { key: this.key }, body, headers };
    const repeatable = idempotencyKey !== undefined;
    return (await this.calls.call((common) => api.xadd({ ...common, ...append }), { repeatable, signal })).id;
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
      const headers = keyHeaders(producerId, `${keyPrefix}-${number++}`);
      const request = { path: { key: this.key }, headers, ...importOf(some.map(toWire)) };
      const reply = await this.calls.call((common) => api.importEntries({ ...common, ...request }), {
        repeatable: true,
        signal,
      });
      count += reply.count;
    }
    return count;
  }

  /**
   * Yields the entries of a range, oldest first, as they arrive. After a broken connection it continues after
   * the last entry.
   */
  async *read(options: ReadOptions = {}): AsyncGenerator<Entry, void, undefined> {
    let left = options.count ?? Infinity;
    let start = options.start ?? "-";
    const resuming = { policy: this.calls.policy, signal: options.signal };
    const entries = resumed(resuming, () => this.#exported(start, options));
    if (left <= 0) return;
    for await (const entry of entries) {
      start = `(${entry.id}`;
      yield entry;
      if (--left <= 0) return;
    }
  }

  /**
   * Yields new entries as they arrive, over Server-Sent Events. After a broken connection it continues after
   * the last entry.
   */
  tail(options: TailOptions = {}): AsyncGenerator<Entry, void, undefined> {
    return tail(this.key, this.calls, options);
  }

  /** Yields new entries as they arrive, over the client's WebSocket, at most `credit` of them at a time. */
  subscribe(
    options: SubscribeOptions & { readonly after?: string } = {},
  ): AsyncGenerator<Entry, void, undefined> {
    const { after = "$", ...others } = options;
    return new Subscription(this.session, [{ key: this.key, after }], others).iterate();
  }

  /** Returns the number of entries; 0 if the stream does not exist. */
  async length(options: Waiting = {}): Promise<number> {
    const path = { key: this.key };
    const reply = await this.calls.call((common) => api.xlen({ ...common, path }), {
      repeatable: true,
      ...options,
    });
    return reply.length;
  }

  /** Deletes the stream with its groups. */
  async delete(options: Waiting = {}): Promise<void> {
    const path = { key: this.key };
    await this.calls.call((common) => api.deleteStream({ ...common, path }), {
      repeatable: false,
      ...options,
    });
  }

  async *#exported(start: string, options: ReadOptions): AsyncGenerator<Entry> {
    const { end = "+", shape, encoding, filter, signal } = options;
    const request = { path: { key: this.key }, query: { start, end, shape, encoding, filter } };
    const operation = (common: object) => api.exportEntries({ ...common, ...request, parseAs: "stream" });
    const body = await this.calls.open(operation, signal);
    for await (const line of linesOf(body, { signal })) yield fromWire(JSON.parse(line) as api.Entry);
  }
}

function keyHeaders(producerId: string | undefined, key: string) {
  return { "Idempotency-Key": key, "Producer-Id": producerId ?? "tailrace-client" };
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
