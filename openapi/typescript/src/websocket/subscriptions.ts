/**
 * Iterations over pushed entries: of streams (`subscribe`) and of a group (`consume`).
 *
 * This module owns positions and settlements. At most `credit` entries are with the program or on their way
 * to it: the credit of an entry returns to the server when the program requests the next one.
 *
 * A connection that breaks is opened again. A subscription continues after the last entry that arrived: no
 * entry is lost or repeated. A consumer receives entries at least once: with `onClose: "nack"`, the default,
 * the server returns entries that were on their way or not yet passed to the program to the group. The next
 * consumer that claims gets them, which can be this one.
 */
import type { Waiting } from "../calls.js";
import { type Delivered, deliveredFromWire, fromWire } from "../entries.js";
import type { DeliveredEntry } from "../generated/index.js";
import type { NackOptions } from "../settling.js";
import { type Gap, type StreamEntry, logGap } from "../tail.js";
import type { Connection, Ok } from "./connection.js";
import type { Arrival, Move } from "./inbox.js";
import type { GapPush, Request } from "./messages.js";
import { Pushed, type PushedOptions } from "./pushed.js";
import type { Session } from "./session.js";

export interface SubscribeOptions extends PushedOptions {
  /**
   * Yield only entries that match: a condition, such as `fields.status == "failed"`, or an object with a value
   * or a list of values for each field.
   */
  readonly filter?: string | Readonly<Record<string, string | readonly string[]>>;
  /** Called if entries are missing; the subscription continues after them. By default it logs a warning. */
  readonly onGap?: (gap: Gap) => void;
  /** `base64`: the keys of the streams, and names and values of `filter`, are base64. */
  readonly encoding?: "base64";
}

export interface ConsumeOptions extends PushedOptions {
  /** The name of the consumer. Use a name on one connection only. */
  readonly consumer: string;
  /**
   * Also take over entries that have been pending for any consumer for at least this long; a minute by
   * default, which overrides the group's own `claim_min_idle_ms`. null: for as long as the group's own `claim_min_idle_ms` says; without that setting, take over
   * nothing.
   */
  readonly claimMinIdleMs?: number | null;
  /** New entries do not become pending, so each is delivered at most once. */
  readonly noack?: boolean;
  /**
   * The fate of unacknowledged entries at the end of the connection: returned to the group (default), or kept
   * pending.
   */
  readonly onClose?: "keep" | "nack";
}

/** A stream, and the position to start from. */
export interface StreamPosition {
  readonly key: string;
  /** Yield entries after this id. `$`: only new entries. */
  readonly after: string;
}

/** An entry that was delivered to a consumer. */
export interface Delivery extends Delivered {
  /** Acknowledges the entry. Returns true if it was pending. */
  ack(options?: Waiting): Promise<boolean>;
  /**
   * Returns the entry to the group: the next consumer that claims gets it first. Returns true if it was
   * pending.
   */
  nack(options?: NackOptions): Promise<boolean>;
}

const CLAIM_MIN_IDLE_DEFAULT_MS = 60_000;

interface Position {
  readonly after: string;
  /** That of the stream in which the position was reached. Empty: not known. Absent: the program's position. */
  readonly incarnation?: string | undefined;
}

/** A subscription to streams. */
export class Subscription extends Pushed<StreamEntry> {
  readonly #positions: Map<string, Position>;
  /** The incarnations of the streams, as the server named them last. */
  readonly #incarnations = new Map<string, string>();

  constructor(
    session: Session,
    streams: readonly StreamPosition[],
    private readonly options: SubscribeOptions,
  ) {
    super(session, options);
    this.#positions = new Map(streams.map(({ key, after }) => [key, { after }]));
  }

  protected get request(): Request {
    const { filter, encoding } = this.options;
    const streams = Array.from(this.#positions, ([key, position]) => ({ key, ...position, encoding }));
    return { op: "subscribe", streams, filter, encoding };
  }

  protected get keepsAfterLoss(): boolean {
    return true;
  }

  protected item({ key, entry }: Arrival): StreamEntry {
    return { ...fromWire(entry), key };
  }

  protected override opened(ok: Ok): void {
    const streams = ok["streams"] as readonly (StreamPosition & Position)[];
    for (const { key, after, incarnation = this.#positions.get(key)?.incarnation } of streams) {
      this.#positions.set(key, { after, incarnation });
      this.#incarnations.set(key, incarnation ?? "");
    }
  }

  protected override passed(arrival: Arrival): void {
    this.moved(arrival);
  }

  protected override moved({ key, position, incarnation = this.#incarnations.get(key) }: Move): void {
    this.#incarnations.set(key, incarnation ?? "");
    this.#positions.set(key, { after: position, incarnation });
  }

  /** Keeps the position: the next entry is of the stream that the gap names, and has a position there. */
  protected override missed({ key, gap: { incarnation, ...bounds } }: GapPush): void {
    if (incarnation !== undefined) this.#incarnations.set(key, incarnation ?? "");
    (this.options.onGap ?? logGap)({ key, ...bounds });
  }
}

/** A subscription of a group's consumer. */
export class Consumption extends Pushed<Delivery> {
  constructor(
    session: Session,
    private readonly group: string,
    private readonly keys: readonly string[],
    private readonly options: ConsumeOptions,
  ) {
    super(session, options);
  }

  protected get request(): Request {
    const { consumer, noack = false, claimMinIdleMs = CLAIM_MIN_IDLE_DEFAULT_MS } = this.options;
    const streams = this.keys.map((key) => ({ key }));
    const on_close = this.#onClose;
    const claiming = claimMinIdleMs === null ? {} : { claim_min_idle_ms: claimMinIdleMs };
    return { op: "consume", group: this.group, consumer, streams, ...claiming, noack, on_close };
  }

  protected get keepsAfterLoss(): boolean {
    return this.#onClose === "keep";
  }

  protected item({ key, entry }: Arrival): Delivery {
    return {
      ...deliveredFromWire(key, entry as DeliveredEntry),
      ack: (options) => this.#ack(key, entry.id, options),
      nack: (options) => this.#nack(key, entry.id, options),
    };
  }

  /** Returns entries that the program did not see to the group, as if they had not been delivered. */
  protected override async left(connection: Connection, arrivals: readonly Arrival[]): Promise<void> {
    if (this.options.noack === true) return;
    for (const key of this.keys) {
      const ids = arrivals.filter((arrival) => arrival.key === key).map(({ entry }) => entry.id);
      const request: Request = { op: "nack", key, group: this.group, ids, mode: "silent" };
      if (ids.length > 0) await connection.request(request);
    }
  }

  get #onClose(): "keep" | "nack" {
    return this.options.onClose ?? "nack";
  }

  async #ack(key: string, id: string, options: Waiting = {}): Promise<boolean> {
    const request: Request = { op: "ack", key, group: this.group, ids: [id] };
    return (await this.session.request(request, { repeatable: true, ...options }))["acknowledged"] === 1;
  }

  async #nack(key: string, id: string, options: NackOptions = {}): Promise<boolean> {
    const { mode, retryCount: retry_count, delayMs: delay_ms, signal } = options;
    const request: Request = { op: "nack", key, group: this.group, ids: [id], mode, retry_count, delay_ms };
    return (await this.session.request(request, { signal }))["nacked"] === 1;
  }
}
