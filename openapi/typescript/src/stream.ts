/**
 * One stream over HTTP: appended to, read by range, followed.
 *
 * It owns chunks and their idempotency keys, and going on where an export broke off. Requests are the generated
 * client's; the tail stands in `tail.ts`, groups in `group.ts`.
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
  /** `ms-seq`, `ms`, `ms-*`; the server chooses by default. */
  readonly id?: string;
  /**
   * The same key of the same producer appends once, however often it is sent; so a lost answer is asked for again.
   * Without it a lost answer is an error with `sideEffects: "unknown"`.
   */
  readonly idempotencyKey?: string;
  readonly producerId?: string;
  readonly trim?: api.Trimming;
  /** Refuse (404) where there is no such stream, in place of creating it. */
  readonly nomkstream?: boolean;
  /** Append only if this is the stream's last id; else 412. */
  readonly ifLastId?: string;
}

export interface AppendManyOptions extends Waiting {
  /** Entries of one request, which is all or nothing; 1 000 by default. */
  readonly chunk?: number;
  /** Whose idempotency keys these are, for a producer that starts over and sends the same again. */
  readonly producerId?: string;
  /** What the keys of the chunks begin with. */
  readonly keyPrefix?: string;
}

export interface ReadOptions extends Waiting, EntryForm {
  /** An id, a time in milliseconds, `(id` for what follows it; `-`, the first, by default. */
  readonly start?: string;
  /** `+`, the last, by default. */
  readonly end?: string;
  /** Stop after so many. */
  readonly count?: number;
}

export class Stream {
  constructor(
    readonly key: string,
    private readonly calls: Calls,
    private readonly session: Session,
  ) {
    checkedName(key, "the stream's key");
  }

  group(name: string): Group {
    return new Group(this.key, name, this.calls, this.session);
  }

  /** Append one entry; its id. */
  async append(fields: Fields, options: AppendOptions = {}): Promise<string> {
    const { id, trim, nomkstream, ifLastId, idempotencyKey, signal } = options;
    const body = { ...toWire(fields), id, trim, nomkstream, if_last_id: ifLastId };
    const headers = idempotencyKey === undefined ? {} : keyHeaders(options.producerId, idempotencyKey);
    const append = { path: { key: this.key }, body, headers };
    const repeatable = idempotencyKey !== undefined;
    return (await this.calls.call((common) => api.xadd({ ...common, ...append }), { repeatable, signal })).id;
  }

  /**
   * Append all entries in order, in requests of `chunk`; how many they were.
   *
   * Each request is all or nothing and carries an idempotency key: a lost answer is asked for again, and nothing
   * doubles. Where it throws, the chunks before are appended.
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

  /** The entries of a range, oldest first, streamed; where the connection breaks it goes on behind the last. */
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

  /** New entries as they come, over Server-Sent Events; after a cut it goes on behind the last one. */
  tail(options: TailOptions = {}): AsyncGenerator<Entry, void, undefined> {
    return tail(this.key, this.calls, options);
  }

  /** New entries as they come, over the client's WebSocket, no more of them at a time than `credit`. */
  subscribe(
    options: SubscribeOptions & { readonly after?: string } = {},
  ): AsyncGenerator<Entry, void, undefined> {
    const { after = "$", ...others } = options;
    return new Subscription(this.session, [{ key: this.key, after }], others).iterate();
  }

  async length(options: Waiting = {}): Promise<number> {
    const path = { key: this.key };
    const reply = await this.calls.call((common) => api.xlen({ ...common, path }), {
      repeatable: true,
      ...options,
    });
    return reply.length;
  }

  /** Remove the stream with its groups. */
  async delete(options: Waiting = {}): Promise<void> {
    const path = { key: this.key };
    await this.calls.call((common) => api.deleteStream({ ...common, path }), {
      repeatable: false,
      ...options,
    });
  }

  async *#exported(start: string, options: ReadOptions): AsyncGenerator<Entry> {
    const { end = "+", shape, encoding, signal } = options;
    const request = { path: { key: this.key }, query: { start, end, shape, encoding } };
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

/** 128 bits of chance. (`crypto.randomUUID` is not there on pages without TLS.) */
function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
