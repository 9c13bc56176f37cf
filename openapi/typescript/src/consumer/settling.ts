/**
 * Settles the items of a consumer: sends acknowledgments, returns entries to the group, stores dead letters.
 *
 * This module decides when to send, and which dead-letter setting applies: the group's own comes before that
 * of the consumer. It also decides which items are lost. It reads no entries.
 */
import type { Tailrace } from "../client.js";
import type { Delivered } from "../entries.js";
import { TailraceError } from "../errors.js";
import { isGroupMissing } from "../missing.js";
import type { NackOptions } from "../settling.js";
import { wordsOf } from "./dead-letters.js";
import type { Hooking } from "./hooks.js";
import { Item, type Settlement } from "./item.js";
import type { CheckedOptions, Outcome } from "./options.js";

/**
 * The least time between two requests with acknowledgments while there is more work. Those of fast handlers
 * share a request.
 */
const ACKS_WAIT_MS = 50;
const IDS_PER_REQUEST_MAX = 10_000;
/** How many ids a line of the log names. */
const IDS_SHOWN = 3;
/** How long the settings of a group are used before they are read again. */
const POLICY_MS = 5_000;
const FORBIDDEN = 403;

type Verdict = "retry" | "bury" | "server_buries";
interface Policy {
  readonly limit: number | undefined;
  readonly expiresAt: number;
}

export class Settling {
  /** The items that are not settled, by stream and id. Their leases are extended. */
  readonly held = new Map<string, Item>();
  readonly #policies = new Map<string, Policy>();
  #done: Item[] = [];
  #flushedAt = 0;

  constructor(
    private readonly client: Tailrace,
    private readonly options: CheckedOptions,
    private readonly hooks: Hooking,
  ) {}

  hold(item: Item): void {
    this.held.set(nameOf(item), item);
  }

  /** Returns whether the item is neither settled nor lost. */
  holds(item: Item): boolean {
    return this.held.get(nameOf(item)) === item;
  }

  /** Forgets an item. After a loss, the consumer may hold another item of the same entry. */
  release(item: Item): void {
    if (this.holds(item)) this.held.delete(nameOf(item));
  }

  /** Releases and marks lost items, and reports them. */
  lose(items: readonly Item[]): void {
    for (const item of items) {
      this.release(item);
      item.lose();
    }
    for (const key of new Set(items.map((item) => item.key))) {
      const ids = items.filter((item) => item.key === key).map(({ id }) => id);
      const shown = ids.slice(0, IDS_SHOWN).join(", ") + (ids.length > IDS_SHOWN ? ", ..." : "");
      console.warn(
        `lost ${ids.length} of the entries of ${key}, claimed by another consumer or no longer pending: ${shown}`,
      );
    }
    if (items.length > 0) this.hooks.each((hook, options) => hook.lost?.(options, items));
  }

  /**
   * Sends the settlement of `item.ack`, `item.nack` or `item.fail`, and returns how many entries were pending.
   * The items are released even if it throws.
   */
  async settleNow(items: readonly Item[], how: Settlement): Promise<number> {
    if (how !== "ack" && "error" in how) {
      for (const item of items) await this.failed(item, how.error);
      return items.length;
    }
    items.forEach((item) => this.release(item));
    const { createGroup } = this.options;
    let total = 0;
    for (const some of requestsOf(items)) {
      const sending =
        how === "ack" ? this.#send(some, "ack") : this.#send(some, "nack", { delayMs: how.delayMs });
      // With `createGroup`, a missing group is no error, because the next read creates it again.
      const count = createGroup ? await sending.catch(noneIfGroupMissing) : await sending;
      total += count;
      this.#settled(some, count, how === "ack" ? "acknowledged" : "nacked");
    }
    return total;
  }

  /** Queues acknowledgments, and sends the queued ones if the last request was long enough ago. */
  async acknowledgeSoon(items: readonly Item[]): Promise<void> {
    this.#done.push(...items);
    if (Date.now() - this.#flushedAt >= ACKS_WAIT_MS) await this.flush();
  }

  /** Sends all queued acknowledgments. */
  async flush(): Promise<void> {
    const done = this.#done;
    this.#done = [];
    this.#flushedAt = Date.now();
    const left = done.filter((item) => this.holds(item));
    for (const item of left) item.isLeaving = true;
    await this.sendAll(left, "ack", "acknowledged");
    done.forEach((item) => this.release(item));
  }

  /** Releases an entry whose handler failed. After its last delivery it becomes a dead letter. */
  async failed(item: Item, error: unknown): Promise<void> {
    this.hooks.each((hook, options) => hook.failed?.(options, item, error));
    const deliveries = item.deliveries + 1;
    const verdict = await this.verdict(item.key, deliveries);
    if (!this.holds(item)) return;
    if (verdict === "bury") await this.bury(item, deliveries, textOf(error));
    else if (verdict === "server_buries") {
      console.error(`dead letter: ${item.key} ${item.id}, last error: ${textOf(error)}`);
      await this.sendAll([item], "nack", "dead_letter");
    } else if (this.options.onFailure === "nack")
      await this.sendAll([item], "nack", "failed", { delayMs: this.options.retryDelayMs });
    else this.#report([item], "failed");
    this.release(item);
  }

  /** Returns what to do with an entry that was delivered this many times. */
  async verdict(key: string, deliveries: number): Promise<Verdict> {
    let policy = this.#policies.get(key);
    if (policy === undefined || policy.expiresAt < Date.now()) {
      try {
        policy = { limit: await this.#limitOf(key), expiresAt: Date.now() + POLICY_MS };
      } catch (error) {
        console.warn("the settings of the group could not be read", error);
        return "retry"; // Nothing is moved.
      }
      this.#policies.set(key, policy);
    }
    const own = this.options.maxDeliveries ?? Infinity;
    if (policy.limit !== undefined) return deliveries >= policy.limit ? "server_buries" : "retry";
    return deliveries >= own ? "bury" : "retry";
  }

  /** Stores an entry as a dead letter, and acknowledges it only after that. */
  async bury(entry: Delivered, deliveries: number, error: string): Promise<void> {
    const { client, options } = this;
    console.error(`dead letter: ${entry.key} ${entry.id}, last error: ${error || "unknown"}`);
    try {
      const exact = await client.stream(entry.key).get(entry.id, { shape: "pairs" });
      const words = wordsOf({ ...entry, ...exact }, options, deliveries, error);
      // The idempotency key in the command makes a repetition safe.
      await client.command(words, { repeatable: true });
      await this.#send([entry], "ack");
      this.#report([entry], "dead_letter");
    } catch (failure) {
      console.warn(`${entry.key} ${entry.id} stays pending`, failure);
    }
  }

  /**
   * Sends a settlement. If it fails permanently, its entries stay pending and are delivered again, and the
   * loop continues.
   */
  async sendAll(
    entries: readonly Delivered[],
    how: "ack" | "nack",
    outcome: Outcome,
    options: NackOptions = {},
  ): Promise<void> {
    for (const some of requestsOf(entries)) {
      try {
        this.#settled(some, await this.#send(some, how, options).catch(noneIfGroupMissing), outcome);
      } catch (error) {
        console.warn("entries stay pending", error);
      }
    }
  }

  /** Returns how many of the entries were pending. */
  async #send(
    entries: readonly Delivered[],
    how: "ack" | "nack",
    options: NackOptions = {},
  ): Promise<number> {
    const key = entries[0]?.key;
    if (key === undefined) return 0;
    const group = this.client.stream(key).group(this.options.group);
    const ids = entries.map((entry) => entry.id);
    return how === "ack" ? group.ack(ids, {}, ids.length) : group.nack(ids, options);
  }

  /**
   * Reports a settlement whose reply says that `count` entries were pending. If a request names several items,
   * the reply does not say which of them were lost.
   */
  #settled(entries: readonly Delivered[], count: number, outcome: Outcome): void {
    const items = entries.filter((entry) => entry instanceof Item);
    if (items.length > 0 && count === 0) return this.lose(items);
    if (count < items.length) {
      const lost = items.length - count;
      console.warn(`lost ${lost} of ${items.length} entries of ${items[0]?.key} before they were settled`);
    }
    this.#report(entries, outcome);
  }

  #report(entries: readonly Delivered[], outcome: Outcome): void {
    if (entries.length > 0) this.hooks.each((hook, options) => hook.settled?.(options, entries, outcome));
  }

  async #limitOf(key: string): Promise<number | undefined> {
    try {
      const info = await this.client.stream(key).group(this.options.group).info();
      return info.max_deliveries ?? undefined;
    } catch (error) {
      const isForbidden = error instanceof TailraceError && error.status === FORBIDDEN;
      if (isForbidden || isGroupMissing(error)) return undefined;
      throw error;
    }
  }
}

/** Returns the entries by stream, with as many in each part as one request may name. */
export function requestsOf<T extends Delivered>(entries: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (const key of new Set(entries.map((entry) => entry.key))) {
    const some = entries.filter((entry) => entry.key === key);
    while (some.length > 0) parts.push(some.splice(0, IDS_PER_REQUEST_MAX));
  }
  return parts;
}

function noneIfGroupMissing(error: unknown): number {
  if (isGroupMissing(error)) return 0;
  throw error;
}

/** Returns the name of an entry among those that are held. */
export function nameOf({ key, id }: Delivered): string {
  return `${id} ${key}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
