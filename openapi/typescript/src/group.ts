/**
 * One consumer group of one stream: read, acknowledged, given back, claimed, looked at.
 *
 * It owns the shape of these calls. Requests are the generated client's; `consume` goes over the WebSocket.
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
import * as api from "./generated/index.js";
import type { Session } from "./websocket/session.js";
import { Consumption, type ConsumeOptions, type Delivery } from "./websocket/subscriptions.js";

export interface CreateGroupOptions extends Waiting {
  /** Entries after this id; `$`, the default: what comes from now on; `0`: all. */
  readonly after?: string;
  /** Create the stream where there is none, in place of a 404. */
  readonly createStream?: boolean;
}

export interface GroupReadOptions extends Waiting, EntryForm {
  readonly consumer: string;
  readonly count?: number;
  /** How long to wait for entries where there are none; up to 60 000. */
  readonly waitMs?: number;
  /** First take over what has been pending for anyone at least this long. */
  readonly claimMinIdleMs?: number;
  /** New entries do not become pending. */
  readonly noack?: boolean;
  /** `>`, the default: entries new to the group. An id: the consumer's own pending ones after it. */
  readonly after?: string;
}

export interface AckOptions extends Waiting {
  /** Delete the entries from the stream in the same step. */
  readonly delete?: boolean;
  /** With `delete`: what becomes of other groups' pending entries. */
  readonly references?: "keep" | "delete" | "acknowledged";
}

export interface NackOptions extends Waiting {
  /** `fail`, the default: the delivery counts. `silent`: it does not. `fatal`: never again. */
  readonly mode?: "silent" | "fail" | "fatal";
  readonly retryCount?: number;
}

export interface ClaimOptions extends Waiting, EntryForm {
  readonly consumer: string;
  /** Only what was delivered at least this long ago. */
  readonly minIdleMs: number;
  readonly ids: readonly string[];
}

export interface PendingOptions extends Waiting {
  readonly consumer?: string;
  readonly minIdleMs?: number;
  readonly start?: string;
  readonly end?: string;
}

/** What was delivered to a consumer and not acknowledged. */
export interface PendingEntry {
  readonly id: string;
  /** Its owner; null after a nack. */
  readonly consumer: string | null;
  readonly idleMs: number | null;
  readonly deliveries: number;
}

export class Group {
  constructor(
    readonly key: string,
    readonly name: string,
    private readonly calls: Calls,
    private readonly session: Session,
  ) {
    checkedName(name, "the group's name");
  }

  /** Create the group. False where it stands already, as it is. */
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

  /** Remove the group with all that is pending in it. */
  async destroy(options: Waiting = {}): Promise<void> {
    const path = this.#path;
    await this.calls.call((common) => api.xgroupDestroy({ ...common, path }), {
      repeatable: false,
      ...options,
    });
  }

  /** Entries for a consumer: claimed ones first, then new ones; none where the time is over. */
  async read(options: GroupReadOptions): Promise<Delivered[]> {
    const { consumer, count, waitMs, claimMinIdleMs, noack, after: id = ">", signal } = options;
    const bounds = { count, wait_ms: waitMs, claim_min_idle_ms: claimMinIdleMs, noack };
    const body = { group: this.name, consumer, streams: [{ key: this.key, id }], ...bounds };
    const request = { body, query: { shape: options.shape, encoding: options.encoding } };
    // What an answer that was lost held is pending: asking again would give other entries.
    const called = { repeatable: false, signal };
    const page = await this.calls.call((common) => api.xreadgroup({ ...common, ...request }), called);
    return page.streams.flatMap((slice) => slice.entries.map((entry) => deliveredFromWire(this.key, entry)));
  }

  /** Entries are done; how many of them were pending. */
  async ack(ids: readonly string[], options: AckOptions = {}): Promise<number> {
    const { delete: remove, references, signal } = options;
    const body = { ids: [...ids], delete: remove, references };
    const request = { path: this.#path, body };
    const called = { repeatable: true, signal };
    return (await this.calls.call((common) => api.xack({ ...common, ...request }), called)).acknowledged;
  }

  /** Entries are given back: whoever claims first gets them first. How many they were. */
  async nack(ids: readonly string[], options: NackOptions = {}): Promise<number> {
    const body = { ids: [...ids], mode: options.mode, retry_count: options.retryCount };
    const request = { path: this.#path, body };
    const called = { repeatable: false, signal: options.signal };
    return (await this.calls.call((common) => api.xnack({ ...common, ...request }), called)).nacked;
  }

  /** Pending entries become this consumer's, where they have been idle long enough. */
  async claim(options: ClaimOptions): Promise<Entry[]> {
    const { consumer, minIdleMs, ids, signal } = options;
    const body = { consumer, min_idle_ms: minIdleMs, ids: [...ids] };
    const request = {
      path: this.#path,
      body,
      query: { shape: options.shape, encoding: options.encoding },
    };
    const called = { repeatable: false, signal };
    const reply = await this.calls.call((common) => api.xclaim({ ...common, ...request }), called);
    return (reply.entries ?? []).map(fromWire);
  }

  /** All pending entries, in id order, read page by page. */
  async *pending(options: PendingOptions = {}): AsyncGenerator<PendingEntry, void, undefined> {
    for (let start: string | null = options.start ?? "-"; start !== null; ) {
      const page: api.PendingPage = await this.#pendingPage(start, options);
      yield* page.pending.map(pendingFromWire);
      start = page.next === null ? null : `(${page.next}`;
    }
  }

  /** How much is pending, in all and by consumer. */
  pendingSummary(options: Waiting = {}): Promise<api.PendingOverview> {
    const path = this.#path;
    const operation = (common: object) => api.xpendingSummary({ ...common, path });
    return this.calls.call(operation, { repeatable: true, ...options });
  }

  /** Entries for a consumer as they come, over the client's WebSocket, no more of them at a time than `credit`. */
  consume(options: ConsumeOptions): AsyncGenerator<Delivery, void, undefined> {
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
  return { id: item.id, consumer: item.consumer, idleMs: item.idle_ms, deliveries: item.deliveries };
}
