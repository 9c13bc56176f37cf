/**
 * Entries pushed over the WebSocket as iterations: of streams (`subscribe`) and of a group (`consume`).
 *
 * It owns credit and positions. No more entries are with the program, or on their way to it, than `credit`: what
 * one was asked for comes back to the server when the iteration goes on behind it.
 *
 * A connection that breaks is made again. A subscription goes on behind the last entry that came: nothing is lost and
 * nothing comes twice. A consumer's entries are at-least-once: with `onClose: "nack"`, the default, what was on its way
 * or not yet handed over is given back by the server, and whoever claims gets it, this consumer too.
 */
import type { Waiting } from "../calls.js";
import { type Delivered, type Entry, deliveredFromWire, fromWire } from "../entries.js";
import type { DeliveredEntry } from "../generated/index.js";
import type { NackOptions } from "../group.js";
import type { Gap } from "../tail.js";
import type { Connection, Ok } from "./connection.js";
import type { Arrival } from "./inbox.js";
import type { Request } from "./messages.js";
import { Pushed, type PushedOptions } from "./pushed.js";
import type { Session } from "./session.js";

export interface SubscribeOptions extends PushedOptions {
  /** Only entries in which each of these fields has this value, or one of these. */
  readonly filter?: Readonly<Record<string, string | readonly string[]>>;
  /** Told where entries are missing; the subscription goes on behind them. */
  readonly onGap?: (gap: Gap) => void;
}

export interface ConsumeOptions extends PushedOptions {
  /** Use a consumer's name on one connection only. */
  readonly consumer: string;
  /** Also take over what has been pending for anyone at least this long; a minute by default. */
  readonly claimMinIdleMs?: number;
  /** New entries do not become pending: at most once. */
  readonly noack?: boolean;
  /** What becomes of unacknowledged entries when the connection ends: given back, by default, or kept pending. */
  readonly onClose?: "keep" | "nack";
}

export interface StreamPosition {
  readonly key: string;
  /** Entries after this id; `$`: what comes from now on. */
  readonly after: string;
}

/** An entry, and the stream that it is of. */
export interface StreamEntry extends Entry {
  readonly key: string;
}

/** An entry that a consumer was given. */
export interface Delivery extends Delivered {
  /** It is done. True where it was pending. */
  ack(options?: Waiting): Promise<boolean>;
  /** It is given back: whoever claims first gets it first. True where it was pending. */
  nack(options?: NackOptions): Promise<boolean>;
}

const CLAIM_MIN_IDLE_DEFAULT_MS = 60_000;

export class Subscription extends Pushed<StreamEntry> {
  readonly #positions: Map<string, string>;

  constructor(
    session: Session,
    streams: readonly StreamPosition[],
    private readonly options: SubscribeOptions,
  ) {
    super(session, options);
    this.#positions = new Map(streams.map(({ key, after }) => [key, after]));
  }

  protected get request(): Request {
    const streams = Array.from(this.#positions, ([key, after]) => ({ key, after }));
    return { op: "subscribe", streams, filter: this.options.filter };
  }

  protected get keepsAfterLoss(): boolean {
    return true;
  }

  protected item({ key, entry }: Arrival): StreamEntry {
    return { ...fromWire(entry), key };
  }

  protected override opened(ok: Ok): void {
    const streams = ok["streams"] as readonly StreamPosition[];
    streams.forEach(({ key, after }) => this.#positions.set(key, after));
  }

  protected override passed({ key, position }: Arrival): void {
    this.#positions.set(key, position);
  }

  protected override missed(gap: Gap): void {
    this.options.onGap?.(gap);
  }
}

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
    return {
      op: "consume",
      group: this.group,
      consumer,
      streams,
      claim_min_idle_ms: claimMinIdleMs,
      noack,
      on_close,
    };
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

  /** What the program did not see goes back as if it had not been delivered. */
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
    const { mode, retryCount: retry_count, signal } = options;
    const request: Request = { op: "nack", key, group: this.group, ids: [id], mode, retry_count };
    return (await this.session.request(request, { signal }))["nacked"] === 1;
  }
}
