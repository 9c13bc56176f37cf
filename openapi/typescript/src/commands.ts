/**
 * Redis commands, reads of several streams, and the state of the server. `Tailrace` inherits these methods.
 *
 * This module owns the form of these calls. The generated client sends the requests.
 */
import type { Calls, Waiting } from "./calls.js";
import { type Delivered, type EntryForm, deliveredFromWire, fromWire } from "./entries.js";
import { TailraceError } from "./errors.js";
import type { Following } from "./following.js";
import * as api from "./generated/index.js";
import type { Page } from "./stream-reads.js";
import { type StreamEntry, type TailOptions, tailStreams } from "./tail.js";

/** A word of a Redis command. Bytes that are not UTF-8 are written as `{ base64 }`. */
export type CommandWord = string | number | { readonly base64: string };

/** Keys that all begin at the same position, or the position of each key. */
export type Positions = string | readonly string[] | Readonly<Record<string, string>>;

export interface ReadBounds extends Waiting, EntryForm {
  /** The most entries of one stream. */
  readonly count?: number;
  /** The most entries of all streams together. */
  readonly maxCount?: number;
  /** End the result once it has this many bytes. */
  readonly maxBytes?: number;
  /** How long to wait for entries if there are none, at most 60 000. */
  readonly waitMs?: number;
  /** With `waitMs`: gather this many entries, or what has arrived `lingerMs` after the first one. */
  readonly minCount?: number;
  readonly lingerMs?: number;
}

export interface ReadStreamsOptions extends ReadBounds {
  /** Throw an error with status 410 if entries after a position were trimmed. */
  readonly strict?: boolean;
}

export interface ReadGroupOptions extends ReadBounds {
  /** First take over entries that have been pending for any consumer for at least this long. */
  readonly claimMinIdleMs?: number;
  /** New entries do not become pending. */
  readonly noack?: boolean;
}

/** Entries that a group delivered from one stream, and the position of the next read. */
export interface DeliveredPage {
  readonly entries: readonly Delivered[];
  readonly next: string;
}

export abstract class Commands {
  protected abstract readonly calls: Calls;

  /**
   * Sends a command in Redis's own words and returns its RESP2 reply as JSON. Not repeated after a lost
   * response, unless the program says that a repetition has no further effect (`repeatable`).
   */
  async command(
    words: readonly CommandWord[],
    options: Waiting & { readonly repeatable?: boolean } = {},
  ): Promise<api.JsonValue> {
    const request = { body: [...words] };
    const called = { repeatable: false, ...options };
    return (await this.calls.call((common) => api.command({ ...common, ...request }), called)).result;
  }

  /** Runs commands one after another, not atomically. Each outcome has a `result` or an `error`. */
  pipeline(
    commands: readonly (readonly CommandWord[])[],
    options: Waiting = {},
  ): Promise<api.CommandOutcomes> {
    const request = { body: commands.map((words) => [...words]) };
    const called = { repeatable: false, ...options };
    return this.calls.call((common) => api.pipeline({ ...common, ...request }), called);
  }

  /** Runs commands as one transaction (MULTI, EXEC). Each outcome has a `result` or an `error`. */
  transaction(
    commands: readonly (readonly CommandWord[])[],
    options: Waiting = {},
  ): Promise<api.CommandOutcomes> {
    const request = { body: commands.map((words) => [...words]) };
    const called = { repeatable: false, ...options };
    return this.calls.call((common) => api.transaction({ ...common, ...request }), called);
  }

  /** Yields the key, the length, the last id and the number of groups of each stream, page by page. */
  async *streams(
    prefix = "",
    options: Waiting & { readonly page?: number } = {},
  ): AsyncGenerator<api.StreamItem, void, undefined> {
    const { page: limit, signal } = options;
    for (let next: string | null | undefined; next !== null; ) {
      const query = { limit, ...(prefix !== "" && { prefix }), start_after: next };
      const operation = (common: object) => api.listStreams({ ...common, query });
      const page: api.StreamPage = await this.calls.call(operation, { repeatable: true, signal });
      yield* page.streams;
      next = page.next;
    }
  }

  /** Returns the entries after a position in each stream, by key: `{ "race:france": "0" }` (XREAD). */
  async read(
    positions: Readonly<Record<string, string>>,
    options: ReadStreamsOptions = {},
  ): Promise<Map<string, Page>> {
    const streams = Object.entries(positions).map(([key, after]) => ({ key, after }));
    const request = {
      body: { ...boundsOf(options), streams, strict: options.strict },
      query: formOf(options),
    };
    const called = { repeatable: true, signal: options.signal };
    const reply = await this.calls.call((common) => api.xread({ ...common, ...request }), called);
    return new Map(
      reply.streams.map(({ key, entries, next }) => [key, { entries: entries.map(fromWire), next }]),
    );
  }

  /**
   * Reads entries of several streams for a consumer of a group that each of them has (XREADGROUP). Positions:
   * `>` for new entries, or an id for the consumer's own pending entries after it.
   */
  async readGroup(
    group: string,
    consumer: string,
    positions: Positions,
    options: ReadGroupOptions = {},
  ): Promise<Map<string, DeliveredPage>> {
    const { claimMinIdleMs, noack, signal } = options;
    const streams = Array.from(positionsOf(positions, ">"), ([key, id]) => ({ key, id }));
    const bounds = { ...boundsOf(options), claim_min_idle_ms: claimMinIdleMs, noack };
    const request = { body: { group, consumer, streams, ...bounds }, query: formOf(options) };
    // The entries of a lost response are pending: a repetition would return other entries.
    const called = { repeatable: false, signal };
    const reply = await this.calls.call((common) => api.xreadgroup({ ...common, ...request }), called);
    return new Map(
      reply.streams.map(({ key, entries, next }) => [
        key,
        { entries: entries.map((entry) => deliveredFromWire(key, entry)), next },
      ]),
    );
  }

  /** Yields entries of several streams as they arrive, over Server-Sent Events, without end. */
  tail(streams: Positions, options: TailOptions = {}): Following<StreamEntry> {
    return tailStreams(positionsOf(streams, options.after ?? "$"), this.calls, options);
  }

  /** Returns if the server's process answers. */
  async ping(options: Waiting = {}): Promise<void> {
    await this.calls.call((common) => api.healthz(common), { repeatable: true, ...options });
  }

  /** Returns whether the server can be reached and accepts reads and writes. One attempt. */
  async isReady(options: Waiting = {}): Promise<boolean> {
    try {
      await this.calls.once((common) => api.readyz(common), options.signal);
      return true;
    } catch (error) {
      if (error instanceof TailraceError && error.retryable) return false;
      throw error;
    }
  }

  /** Returns the limits of the server, such as the largest entry. */
  limits(options: Waiting = {}): Promise<api.Limits> {
    return this.calls.call((common) => api.getLimits(common), { repeatable: true, ...options });
  }

  /** Returns the scopes and key patterns of this client's token. */
  access(options: Waiting = {}): Promise<api.AccessReply> {
    return this.calls.call((common) => api.showAccess(common), { repeatable: true, ...options });
  }

  /** Returns a ticket with which a web page can open one WebSocket within a minute. */
  createTicket(options: Waiting = {}): Promise<api.Ticket> {
    return this.calls.call((common) => api.createTicket(common), { repeatable: true, ...options });
  }

  /** Returns version, durability, memory, connections and the newest audit lines of the server. */
  server(options: Waiting & { readonly limit?: number } = {}): Promise<api.ServerState> {
    const { limit, signal } = options;
    const operation = (common: object) => api.showServer({ ...common, query: { limit } });
    return this.calls.call(operation, { repeatable: true, signal });
  }

  /** Returns the slowest operations that the server recorded, the newest first. */
  slowLog(options: Waiting & { readonly limit?: number } = {}): Promise<api.SlowLogPage> {
    const { limit, signal } = options;
    const operation = (common: object) => api.slowLog({ ...common, query: { limit } });
    return this.calls.call(operation, { repeatable: true, signal });
  }

  /** Deletes the recorded slow operations. */
  async clearSlowLog(options: Waiting = {}): Promise<void> {
    await this.calls.call((common) => api.clearSlowLog(common), { repeatable: true, ...options });
  }

  /** Returns the server's page about an error code, such as `error.code`, as HTML. */
  explain(code: string, options: Waiting = {}): Promise<string> {
    const request = { path: { code }, parseAs: "text" as const };
    const operation = (common: object) => api.problemPage({ ...common, ...request });
    return this.calls.call(operation, { repeatable: true, ...options });
  }
}

/** Returns the position of each key. */
export function positionsOf(positions: Positions, common: string): Map<string, string> {
  if (typeof positions === "string") return new Map([[positions, common]]);
  if (Array.isArray(positions)) return new Map((positions as string[]).map((key) => [key, common]));
  return new Map(Object.entries(positions));
}

function boundsOf({ count, maxCount, maxBytes, waitMs, minCount, lingerMs }: ReadBounds) {
  const waiting = { wait_ms: waitMs, min_count: minCount, linger_ms: lingerMs };
  return { count, max_count: maxCount, max_bytes: maxBytes, ...waiting };
}

function formOf({ shape, encoding }: EntryForm) {
  return { shape, encoding };
}
