/**
 * The items that a consumer passes to the program: an entry, its deliveries, and three ways to settle it.
 */
import type { Delivered } from "../entries.js";

export type Settlement = "ack" | { readonly error: unknown } | Later;

/** How a nack delays the next delivery; without it, the backoff of the group applies. */
export interface Later {
  readonly delayMs?: number;
}
type Settler = (items: readonly Item[], how: Settlement) => Promise<void>;

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
  #isSettled = false;
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

  /** Acknowledges the entry. A second call has no effect. */
  ack(): Promise<void> {
    return Item.settleAll([this], "ack");
  }

  /** Returns the entry to the group; this delivery counts. */
  nack(later: Later = {}): Promise<void> {
    return Item.settleAll([this], later);
  }

  /**
   * Treats the entry as if its handler had thrown `error`: it is delivered again, or becomes a dead letter if
   * this was its last delivery.
   */
  fail(error: unknown): Promise<void> {
    return Item.settleAll([this], { error });
  }

  /** Settles the items that are not settled, in one request for each stream. */
  static async settleAll(items: readonly Item[], how: Settlement): Promise<void> {
    const left = items.filter((item) => !item.#isSettled);
    if (left[0] !== undefined) await left[0].#settle(left, how);
    for (const item of left) item.#isSettled = true;
  }
}

/** Items that are processed together. Each item can also be settled alone. */
export class Batch extends Array<Item> {
  // `map` and other methods of arrays return plain arrays.
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** Acknowledges the items that are not settled. */
  ack(): Promise<void> {
    return Item.settleAll(this, "ack");
  }

  /** Returns the items that are not settled to the group. */
  nack(later: Later = {}): Promise<void> {
    return Item.settleAll(this, later);
  }
}
