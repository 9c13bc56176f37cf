/**
 * Reading a stream: ranges, single entries, exports, tails and plans of ranges.
 *
 * This module resumes broken exports. The generated client sends the requests; `tail.ts` contains the tail.
 */
import { linesOf } from "./byte-streams.js";
import type { Waiting } from "./calls.js";
import { type Entry, type EntryForm, fromWire } from "./entries.js";
import type { Following } from "./following.js";
import * as api from "./generated/index.js";
import { isMissing } from "./missing.js";
import { resumed } from "./resuming.js";
import { StreamSchedule } from "./stream-schedule.js";
import { type TailOptions, tail } from "./tail.js";
import { type SubscribeOptions, Subscription } from "./websocket/subscriptions.js";

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

export interface ReadAfterOptions extends Waiting, EntryForm {
  readonly count?: number;
  /** How long to wait for entries if there are none, at most 60 000. */
  readonly waitMs?: number;
  /** Throw an error with status 410 if entries after the position were trimmed. */
  readonly strict?: boolean;
}

export interface ExportOptions extends Waiting {
  readonly start?: string;
  readonly end?: string;
  /** `entry`, the default: lines with id and fields. `fields`: lines that can be imported again. */
  readonly shape?: "entry" | "fields" | "pairs";
  /** Only these fields, in this order. */
  readonly fields?: readonly string[];
}

/** Entries of one read, and the position of the next one. */
export interface Page {
  readonly entries: readonly Entry[];
  readonly next: string;
}

const REVERSE_PAGE = 1_000;

export abstract class StreamReads extends StreamSchedule {
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
   * the last entry. `await stream.tail().open()` opens it; otherwise the first request for an entry does.
   */
  tail(options: TailOptions = {}): Following<Entry> {
    return tail(this.key, this.calls, options);
  }

  /** Yields new entries as they arrive, over the client's WebSocket, at most `credit` of them at a time. */
  subscribe(options: SubscribeOptions & { readonly after?: string } = {}): Following<Entry> {
    const { after = "$", ...others } = options;
    return new Subscription(this.session, [{ key: this.key, after }], others).iterate();
  }

  /** Yields the entries of a range, the newest first, read page by page. */
  async *readReverse(options: ReadOptions = {}): AsyncGenerator<Entry, void, undefined> {
    const { start = "-", shape, encoding, filter, signal } = options;
    let left = options.count ?? Infinity;
    let end: string | null = options.end ?? "+";
    while (left > 0 && end !== null) {
      const bounds = { start, end, order: "desc" as const, count: Math.min(left, REVERSE_PAGE) };
      const request = { path: this.path, query: { ...bounds, shape, encoding, filter } };
      const operation = (common: object) => api.xrange({ ...common, ...request });
      const page: api.RangePage = await this.calls.call(operation, { repeatable: true, signal });
      yield* page.entries.map(fromWire);
      left -= page.entries.length;
      // With a filter, `next` is the last id that was examined; without one, entries may follow a full page.
      const last: string | null | undefined = filter === undefined ? page.entries.at(-1)?.id : page.next;
      end = last ? `(${last}` : null;
    }
  }

  /** Returns the last `count` entries in the order of the stream, the newest last. */
  async last(count = 1, options: Waiting & EntryForm = {}): Promise<Entry[]> {
    const entries: Entry[] = [];
    for await (const entry of this.readReverse({ ...options, count })) entries.unshift(entry);
    return entries;
  }

  /** Returns one entry; undefined if there is none with this id. */
  async get(id: string, options: Waiting & EntryForm = {}): Promise<Entry | undefined> {
    const { shape, encoding, signal } = options;
    const request = { path: { ...this.path, id }, query: { shape, encoding } };
    const called = { repeatable: true, signal };
    try {
      return fromWire(await this.calls.call((common) => api.getEntry({ ...common, ...request }), called));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Returns the entries after a position, and the position of the next read (XREAD). With `waitMs`, the
   * server waits for entries. `$`, the default: only entries that are appended from now on.
   */
  async readAfter(after = "$", options: ReadAfterOptions = {}): Promise<Page> {
    const { count, waitMs, strict, shape, encoding, signal } = options;
    const query = { after, count, wait_ms: waitMs, strict, shape, encoding };
    const called = { repeatable: true, signal };
    const operation = (common: object) => api.xrange({ ...common, path: this.path, query });
    const page = await this.calls.call(operation, called);
    return { entries: page.entries.map(fromWire), next: page.next ?? after };
  }

  /** Yields the entries of a range as lines of NDJSON, in one request. A broken connection is an error. */
  async *exportLines(options: ExportOptions = {}): AsyncGenerator<string, void, undefined> {
    const { start = "-", end = "+", shape, fields, signal } = options;
    const query = { start, end, shape, field: fields === undefined ? undefined : [...fields] };
    const request = { path: this.path, query, parseAs: "stream" as const };
    const body = await this.calls.open((common) => api.exportEntries({ ...common, ...request }), signal);
    yield* linesOf(body, { signal });
  }

  /** Returns boundaries that split a range into parts of about equal counts. */
  split(
    parts: number,
    options: Waiting & { readonly start?: string; readonly end?: string } = {},
  ): Promise<api.SplitPlan> {
    const { start, end, signal } = options;
    const request = { path: this.path, query: { parts, start, end } };
    const called = { repeatable: true, signal };
    return this.calls.call((common) => api.splitEntries({ ...common, ...request }), called);
  }

  /** Returns the id that ends a page of `count` entries. */
  seek(count: number, options: Waiting & { readonly start?: string } = {}): Promise<api.SeekPosition> {
    const { start, signal } = options;
    const request = { path: this.path, query: { count, start } };
    const called = { repeatable: true, signal };
    return this.calls.call((common) => api.seekEntries({ ...common, ...request }), called);
  }

  async *#exported(start: string, options: ReadOptions): AsyncGenerator<Entry> {
    const { end = "+", shape, encoding, filter, signal } = options;
    const request = { path: { key: this.key }, query: { start, end, shape, encoding, filter } };
    const operation = (common: object) => api.exportEntries({ ...common, ...request, parseAs: "stream" });
    const body = await this.calls.open(operation, signal);
    for await (const line of linesOf(body, { signal })) yield fromWire(JSON.parse(line) as api.Entry);
  }
}
