/**
 * Settles the items of a consumer: sends acknowledgments, returns entries to the group, stores dead letters.
 *
 * This module decides when to send, and which dead-letter setting applies: the group's own comes before that
 * of the consumer. It reads no entries.
 */
import type { Tailrace } from "../client.js";
import type { Delivered } from "../entries.js";
import { TailraceError } from "../errors.js";
import { isGroupMissing } from "../missing.js";
import type { NackOptions } from "../settling.js";
import { wordsOf } from "./dead-letters.js";
import type { Hooking } from "./hooks.js";
import type { Item, Settlement } from "./item.js";
import type { CheckedOptions, Outcome } from "./options.js";

/**
 * The least time between two requests with acknowledgments while there is more work. Those of fast handlers
 * share a request.
 */
const ACKS_WAIT_MS = 50;
const IDS_PER_REQUEST_MAX = 10_000;
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

  holds(entry: Delivered): boolean {
    return this.held.has(nameOf(entry));
  }

  release(entry: Delivered): void {
    this.held.delete(nameOf(entry));
  }

  /** Sends the settlement of `item.ack`, `item.nack` or `item.fail`. The items are released even if it throws. */
  async settleNow(items: readonly Item[], how: Settlement): Promise<void> {
    if (how !== "ack" && "error" in how) {
      for (const item of items) await this.failed(item, how.error);
      return;
    }
    items.forEach((item) => this.release(item));
    for (const some of requestsOf(items)) {
      try {
        if (how === "ack") await this.#send(some, "ack");
        else await this.#send(some, "nack", { delayMs: how.delayMs });
        this.#report(some, how === "ack" ? "acknowledged" : "nacked");
      } catch (error) {
        // With `createGroup`, a missing group is no error: the next read creates it again.
        if (!(this.options.createGroup && isGroupMissing(error))) throw error;
      }
    }
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
    await this.sendAll(done, "ack", "acknowledged");
    done.forEach((item) => this.release(item));
  }

  /** Releases an entry whose handler failed. After its last delivery it becomes a dead letter. */
  async failed(entry: Delivered, error: unknown): Promise<void> {
    this.hooks.each((hook, options) => hook.failed?.(options, entry, error));
    const deliveries = entry.deliveries + 1;
    const verdict = await this.verdict(entry.key, deliveries);
    if (verdict === "bury") await this.bury(entry, deliveries, textOf(error));
    else if (verdict === "server_buries") await this.sendAll([entry], "nack", "dead_letter");
    else if (this.options.onFailure === "nack")
      await this.sendAll([entry], "nack", "failed", { delayMs: this.options.retryDelayMs });
    else this.#report([entry], "failed");
    this.release(entry);
  }

  /** Returns what to do with an entry that was delivered this many times. */
  async verdict(key: string, deliveries: number): Promise<Verdict> {
    let policy = this.#policies.get(key);
    if (policy === undefined || policy.expiresAt < Date.now()) {
      try {
        policy = { limit: await this.#limitOf(key), expiresAt: Date.now() + POLICY_MS };
      } catch {
        return "retry"; // The settings of the group are unknown, so nothing is moved.
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
        await this.#send(some, how, options);
        this.#report(some, outcome);
      } catch (error) {
        console.warn("entries stay pending", error);
      }
    }
  }

  async #send(entries: readonly Delivered[], how: "ack" | "nack", options: NackOptions = {}): Promise<void> {
    const key = entries[0]?.key;
    if (key === undefined) return;
    const group = this.client.stream(key).group(this.options.group);
    const ids = entries.map((entry) => entry.id);
    await (how === "ack" ? group.ack(ids) : group.nack(ids, options));
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
function requestsOf<T extends Delivered>(entries: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (const key of new Set(entries.map((entry) => entry.key))) {
    const some = entries.filter((entry) => entry.key === key);
    while (some.length > 0) parts.push(some.splice(0, IDS_PER_REQUEST_MAX));
  }
  return parts;
}

function nameOf({ key, id }: Delivered): string {
  return `${id} ${key}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
