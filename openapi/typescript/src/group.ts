/**
 * One consumer group of one stream: read, acknowledge, return, claim and inspect its entries.
 *
 * This module owns the form of these calls. The generated client sends the requests; `consume` uses the
 * WebSocket.
 */
import type { Calls, Waiting } from "./calls.js";
import {
  type Delivered,
  type Entry,
  type EntryForm,
  checkedName,
  deliveredFromWire,
  fromWire,
} from "./entries.js";
import { TailraceError } from "./errors.js";
import type { Following } from "./following.js";
import * as api from "./generated/index.js";
import type { AckOptions, NackOptions } from "./settling.js";
import type { Session } from "./websocket/session.js";
import { Consumption, type ConsumeOptions, type Delivery } from "./websocket/subscriptions.js";

/** Settings of a group; null removes one. The generated type lacks null, which the server takes. */
export type GroupSettings = {
  readonly [Name in keyof api.GroupSettingsBody]: api.GroupSettingsBody[Name] | null;
};

export interface CreateGroupOptions extends Waiting {
  /** The group delivers entries after this id. `$`, the default: only new entries. `0`: all entries. */
  readonly after?: string;
  /** Create the stream if it does not exist, instead of a 404. */
  readonly createStream?: boolean;
}

export interface GroupReadOptions extends Waiting, EntryForm {
  readonly consumer: string;
  readonly count?: number;
  /** How long to wait for entries if there are none, at most 60 000. */
  readonly waitMs?: number;
  /** With `waitMs`: gather this many entries, or what has arrived `lingerMs` after the first one. */
  readonly minCount?: number;
  readonly lingerMs?: number;
  /** First take over entries that have been pending for any consumer for at least this long. */
  readonly claimMinIdleMs?: number;
  /** New entries do not become pending. */
  readonly noack?: boolean;
  /**
   * `>`, the default: entries that are new to the group. An id: the consumer's own pending entries after it.
   */
  readonly after?: string;
}

export interface ClaimOptions extends Waiting, EntryForm {
  readonly consumer: string;
  /** Only entries that were delivered at least this long ago. */
  readonly minIdleMs: number;
  readonly ids: readonly string[];
  /** Count no delivery, and return no entries. */
  readonly justId?: boolean;
}

export interface AutoclaimOptions extends Waiting {
  readonly consumer: string;
  readonly minIdleMs: number;
  readonly start?: string;
  readonly count?: number;
}

/** The result of an autoclaim. `deletedIds`: entries that were pending and are deleted from the stream. */
export interface Scan {
  readonly entries: readonly Entry[];
  readonly cursor: string;
  readonly deletedIds: readonly string[];
}

export interface PendingOptions extends Waiting {
  readonly consumer?: string;
  readonly minIdleMs?: number;
  readonly start?: string;
  readonly end?: string;
}

/** An entry that was delivered to a consumer and is not acknowledged. */
export interface PendingEntry {
  readonly id: string;
  /** The owner; null after a nack. */
  readonly consumer: string | null;
  readonly idleMs: number | null;
  readonly deliveries: number;
  /** No consumer can claim the entry before this time, after a nack with a delay; undefined otherwise. */
  readonly claimableAtMs: number | undefined;
}

/** A consumer group by its name. Creating this object sends no request. */
export class Group {
  constructor(
    readonly key: string,
    readonly name: string,
    private readonly calls: Calls,
    private readonly session: Session,
  ) {
    checkedName(name, "the group's name");
  }

  /** Creates the group. Returns false if the group exists; it stays unchanged. */
  async create(options: CreateGroupOptions = {}): Promise<boolean> {
    const { after = "$", createStream = false, signal } = options;
    const request = { path: this.#path, body: { after, create_stream: createStream } };
    try {
      await this.calls.call((common) => api.xgroupCreate({ ...common, ...request }), {
        repeatable: true,
        signal,
      });
      return true;
    } catch (error) {
      if (error instanceof TailraceError && error.code === "BUSYGROUP") return false;
      throw error;
    }
  }

  /** Deletes the group with its pending entries. */
  async destroy(options: Waiting = {}): Promise<void> {
    const path = this.#path;
    await this.calls.call((common) => api.xgroupDestroy({ ...common, path }), {
      repeatable: false,
      ...options,
    });
  }

  /** Returns the position, the lag and the settings of the group. */
  info(options: Waiting = {}): Promise<api.Group> {
    const called = { repeatable: true, ...options };
    return this.calls.call((common) => api.xinfoGroup({ ...common, path: this.#path }), called);
  }

  /**
   * Changes settings: dead letters (`max_deliveries` with `dead_letter_stream`), `filter`,
   * `claim_min_idle_ms`, `consumer_expiry_ms`, `max_lag_ms`, `backoff`, `order_by`. Null removes a setting, and
   * settings that are missing stay.
   */
  configure(settings: GroupSettings, options: Waiting = {}): Promise<api.Group> {
    const request = { path: this.#path, body: settings as api.GroupSettingsBody };
    const called = { repeatable: true, ...options };
    return this.calls.call((common) => api.configureGroup({ ...common, ...request }), called);
  }

  /**
   * Sends dead letters of the group back to its stream, each once, and deletes them. After a lost response,
   * call it again.
   */
  redrive(body: api.RedriveBody = {}, options: Waiting = {}): Promise<api.RedriveReply> {
    const request = { path: this.#path, body };
    const called = { repeatable: false, ...options };
    return this.calls.call((common) => api.redrive({ ...common, ...request }), called);
  }

  /** Sets the position of the group: it delivers entries after `after` from now on. */
  async setPosition(after: string, options: Waiting & { readonly entriesRead?: number } = {}): Promise<void> {
    const { entriesRead, signal } = options;
    const request = { path: this.#path, body: { after, entries_read: entriesRead } };
    // Repeated, `$` would also skip the entries that were appended meanwhile.
    const called = { repeatable: false, signal };
    await this.calls.call((common) => api.xgroupSetid({ ...common, ...request }), called);
  }

  /** Returns the consumers of the group, with their pending entries. */
  async consumers(options: Waiting = {}): Promise<api.Consumer[]> {
    const called = { repeatable: true, ...options };
    const operation = (common: object) => api.xinfoConsumers({ ...common, path: this.#path });
    return (await this.calls.call(operation, called)).consumers;
  }

  /** Creates a consumer. Returns whether it is new. Reads create consumers, too. */
  async createConsumer(consumer: string, options: Waiting = {}): Promise<boolean> {
    const path = { ...this.#path, consumer };
    const called = { repeatable: true, ...options };
    return (await this.calls.call((common) => api.xgroupCreateconsumer({ ...common, path }), called)).created;
  }

  /**
   * Deletes a consumer and returns how many entries were pending for it: they move to `transferTo`, or are
   * dropped with `force`.
   */
  async deleteConsumer(
    consumer: string,
    options: Waiting & { readonly force?: boolean; readonly transferTo?: string } = {},
  ): Promise<number> {
    const { force, transferTo, signal } = options;
    const request = { path: { ...this.#path, consumer }, query: { force, transfer_to: transferTo } };
    const called = { repeatable: false, signal };
    const operation = (common: object) => api.xgroupDelconsumer({ ...common, ...request });
    return (await this.calls.call(operation, called)).pending_dropped;
  }

  /** Returns entries for a consumer: claimed entries first, then new ones; none if there are none in time. */
  async read(options: GroupReadOptions): Promise<Delivered[]> {
    const { consumer, count, waitMs, claimMinIdleMs, noack, after: id = ">", signal } = options;
    const gathering = { min_count: options.minCount, linger_ms: options.lingerMs };
    const bounds = { count, wait_ms: waitMs, ...gathering, claim_min_idle_ms: claimMinIdleMs, noack };
    const body = { group: this.name, consumer, streams: [{ key: this.key, id }], ...bounds };
    const request = { body, query: { shape: options.shape, encoding: options.encoding } };
    // The entries of a lost response are pending: a repetition would return other entries.
    const called = { repeatable: false, signal };
    const page = await this.calls.call((common) => api.xreadgroup({ ...common, ...request }), called);
    return page.streams.flatMap((slice) => slice.entries.map((entry) => deliveredFromWire(this.key, entry)));
  }

  /**
   * Acknowledges entries and returns how many of them were pending: by the repetition after a lost response,
   * or `repeated` if it is given.
   */
  async ack(ids: readonly string[], options: AckOptions = {}, repeated?: number): Promise<number> {
    const { delete: remove, references, signal } = options;
    const body = { ids: [...ids], delete: remove, references };
    const request = { path: this.#path, body };
    const called = { repeatable: true, signal };
    const assumed = repeated === undefined ? undefined : { acknowledged: repeated };
    const operation = (common: object) => api.xack({ ...common, ...request });
    return (await this.calls.call(operation, called, assumed)).acknowledged;
  }

  /**
   * Returns entries to the group: the next consumer that claims gets them first. Returns how many were
   * pending.
   */
  async nack(ids: readonly string[], options: NackOptions = {}): Promise<number> {
    const body = {
      ids: [...ids],
      mode: options.mode,
      retry_count: options.retryCount,
      delay_ms: options.delayMs,
    };
    const request = { path: this.#path, body };
    const called = { repeatable: false, signal: options.signal };
    return (await this.calls.call((common) => api.xnack({ ...common, ...request }), called)).nacked;
  }

  /** Takes over pending entries for this consumer, if they have been idle long enough. */
  async claim(options: ClaimOptions): Promise<Entry[]> {
    const { consumer, minIdleMs, ids, justId, signal } = options;
    const body = { consumer, min_idle_ms: minIdleMs, ids: [...ids], just_id: justId };
    const request = {
      path: this.#path,
      body,
      query: { shape: options.shape, encoding: options.encoding },
    };
    const called = { repeatable: false, signal };
    const reply = await this.calls.call((common) => api.xclaim({ ...common, ...request }), called);
    return (reply.entries ?? []).map(fromWire);
  }

  /**
   * Begins the idle time of this consumer's own entries again (a heartbeat), and returns their ids. The other
   * ids belong to another consumer now, or are no longer pending: stop working on them.
   */
  async extend(consumer: string, ids: readonly string[], options: Waiting = {}): Promise<string[]> {
    const request = { path: this.#path, body: { consumer, ids: [...ids] } };
    const called = { repeatable: true, ...options };
    return (await this.calls.call((common) => api.extend({ ...common, ...request }), called)).extended;
  }

  /** Takes over idle entries that a scan in id order finds. `cursor` is the start of the next scan. */
  async autoclaim(options: AutoclaimOptions): Promise<Scan> {
    const { consumer, minIdleMs, start = "0-0", count, signal } = options;
    const body = { consumer, min_idle_ms: minIdleMs, start, count };
    const request = { path: this.#path, body };
    const called = { repeatable: false, signal };
    const reply = await this.calls.call((common) => api.xautoclaim({ ...common, ...request }), called);
    const { cursor, deleted_ids: deletedIds } = reply;
    return { entries: (reply.entries ?? []).map(fromWire), cursor, deletedIds };
  }

  /** Yields all pending entries in id order, read page by page. */
  async *pending(options: PendingOptions = {}): AsyncGenerator<PendingEntry, void, undefined> {
    for (let start: string | null = options.start ?? "-"; start !== null; ) {
      const page: api.PendingPage = await this.#pendingPage(start, options);
      yield* page.pending.map(pendingFromWire);
      start = page.next === null ? null : `(${page.next}`;
    }
  }

  /** Returns the number of pending entries, in total and by consumer. */
  pendingSummary(options: Waiting = {}): Promise<api.PendingOverview> {
    const path = this.#path;
    const operation = (common: object) => api.xpendingSummary({ ...common, path });
    return this.calls.call(operation, { repeatable: true, ...options });
  }

  /** Yields entries for a consumer as they arrive, over the WebSocket, at most `credit` of them at a time. */
  consume(options: ConsumeOptions): Following<Delivery> {
    return new Consumption(this.session, this.name, [this.key], options).iterate();
  }

  get #path() {
    return { key: this.key, group: this.name };
  }

  #pendingPage(start: string, options: PendingOptions): Promise<api.PendingPage> {
    const { consumer, minIdleMs, end, signal } = options;
    const query = { start, end, consumer, min_idle_ms: minIdleMs };
    const operation = (common: object) => api.xpending({ ...common, path: this.#path, query });
    return this.calls.call(operation, { repeatable: true, signal });
  }
}

function pendingFromWire(item: api.PendingItem): PendingEntry {
  return {
    id: item.id,
    consumer: item.consumer,
    idleMs: item.idle_ms,
    deliveries: item.deliveries,
    claimableAtMs: item.claimable_at_ms,
  };
}
