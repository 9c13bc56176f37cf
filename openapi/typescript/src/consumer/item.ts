/**
 * The items that a consumer passes to the program: an entry, its deliveries, and three ways to settle it.
 */
import type { Delivered } from "../entries.js";
import { lostHere } from "../errors.js";

export type Settlement = "ack" | { readonly error: unknown } | Later;

/** How a nack delays the next delivery; without it, the backoff of the group applies. */
export interface Later {
  readonly delayMs?: number;
}

/** Settles items, and returns how many were pending. Marks those that turn out to be lost. */
type Settler = (items: readonly Item[], how: Settlement) => Promise<number>;

/** An entry of a consumer. */
export class Item implements Delivered {
  readonly key: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly pairs?: readonly (readonly [string, string])[];
  readonly encoding?: "base64";
  readonly deliveries: number;
  readonly idleMs: number;
  readonly deleted = false;
  /** Whether its acknowledgment is on the way, so that its absence from the pending entries is no loss. */
  isLeaving = false;
  #isSettled = false;
  #isLost = false;
  #loss: AbortController | undefined;
  readonly #settle: Settler;

  constructor(delivered: Delivered, settle: Settler) {
    this.key = delivered.key;
    this.id = delivered.id;
    this.fields = delivered.fields;
    if (delivered.pairs !== undefined) this.pairs = delivered.pairs;
    if (delivered.encoding !== undefined) this.encoding = delivered.encoding;
    this.deliveries = delivered.deliveries;
    this.idleMs = delivered.idleMs;
    this.#settle = settle;
  }

  /** Whether `ack`, `nack` or `fail` succeeded. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * Whether the entry no longer belongs to this consumer, because another one has claimed it or it is no longer
   * pending. The consumer learns this when it extends leases and from replies; stop working on the entry then.
   */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** A signal that is aborted when the entry is lost: `fetch(url, { signal: item.signal })`. */
  get signal(): AbortSignal {
    this.#loss ??= new AbortController();
    if (this.#isLost) this.#loss.abort(lostHere(this.key, this.id));
    return this.#loss.signal;
  }

  /** Marks the entry as lost. */
  lose(): void {
    this.#isLost = true;
    this.#loss?.abort(lostHere(this.key, this.id));
  }

  /**
   * Acknowledges the entry, and returns whether it is settled: false if the entry is lost, so that the
   * acknowledgment does not count. A second call has no effect.
   */
  async ack(): Promise<boolean> {
    return (await Item.settleAll([this], "ack")) === 1;
  }

  /** Returns the entry to the group; this delivery counts. False if the entry is lost. */
  async nack(later: Later = {}): Promise<boolean> {
    return (await Item.settleAll([this], later)) === 1;
  }

  /**
   * Treats the entry as if its handler had thrown `error`: it is delivered again, or becomes a dead letter if
   * this was its last delivery.
   */
  async fail(error: unknown): Promise<void> {
    await Item.settleAll([this], { error });
  }

  /**
   * Settles the items that are neither settled nor lost, in one request for each stream, and returns how many
   * of all are settled then.
   */
  static async settleAll(items: readonly Item[], how: Settlement): Promise<number> {
    const left = items.filter((item) => !item.#isSettled && !item.#isLost);
    let settled = items.filter((item) => item.#isSettled).length;
    if (left[0] !== undefined) settled += await left[0].#settle(left, how);
    for (const item of left) item.#isSettled = !item.#isLost;
    return settled;
  }
}

/** Items that are processed together. Each item can also be settled alone. */
export class Batch extends Array<Item> {
  // `map` and other methods of arrays return plain arrays.
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /**
   * Acknowledges the items that are not settled, and returns how many items of the batch are settled now: fewer
   * than all if some are lost.
   */
  ack(): Promise<number> {
    return Item.settleAll(this, "ack");
  }

  /** Returns the items that are not settled to the group, and returns how many of the batch are settled now. */
  nack(later: Later = {}): Promise<number> {
    return Item.settleAll(this, later);
  }
}
