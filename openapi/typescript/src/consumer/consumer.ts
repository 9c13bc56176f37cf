/**
 * A consumer of a group: loops, batches, and handlers that run at the same time.
 *
 * `feed.ts` reads the entries over HTTP and `settling.ts` settles them; this module owns the workers and
 * extends leases. Delivery is at least once.
 */
import type { Tailrace } from "../client.js";
import { refusedHere } from "../errors.js";
import { isGroupMissing } from "../missing.js";
import { timerMs } from "../waiting.js";
import { Feed } from "./feed.js";
import { Hooking } from "./hooks.js";
import { Batch, type Item } from "./item.js";
import { type CheckedOptions, type ConsumerOptions, checked, inRange } from "./options.js";
import { Settling, requestsOf } from "./settling.js";

export interface BatchOptions {
  /** The most items of a batch; 100 by default. */
  readonly size?: number;
  /** How long a batch waits for more items after its first one; 0 by default. */
  readonly fillMs?: number;
}

export interface RunOptions {
  /** How many handlers run at the same time; 1 by default. */
  readonly concurrency?: number;
}

const BEATS_PER_LEASE = 3;

/**
 * One consumer of a group, over one stream or several.
 *
 * Iterate over it and settle each item, or pass a handler to `run`. An item that is not settled is delivered
 * again after `claimMinIdleMs`, to the first consumer of the group that reads. If the server restarts, the
 * consumer waits for it.
 */
export class Consumer {
  readonly options: CheckedOptions;
  readonly #hooks: Hooking;
  readonly #settling: Settling;
  readonly #feed: Feed;
  #isRunning = false;

  constructor(
    private readonly client: Tailrace,
    options: ConsumerOptions,
  ) {
    this.options = checked(options);
    this.#hooks = new Hooking(this.options);
    this.#settling = new Settling(client, this.options, this.#hooks);
    this.#feed = new Feed(client, this.options, this.#settling, this.#hooks);
  }

  /**
   * Yields items as they arrive, until `stop`. An item that is not settled when the next item is requested is
   * released and delivered again.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const [item] of this.batches({ size: 1 })) if (item !== undefined) yield item;
  }

  /** Yields batches of items as they arrive, until `stop`. Settle each with `batch.ack()`, or item by item. */
  batches(options: BatchOptions = {}): AsyncGenerator<Batch, void, undefined> {
    const { size, fillMs } = sizesOf(options);
    return this.#batches(size, fillMs);
  }

  /**
   * Calls the handler with each item, until `stop`. An item is acknowledged when the promise of its handler
   * is fulfilled, unless the handler settled it. If the handler throws, the item is delivered again, or
   * becomes a dead letter if this was its last delivery.
   */
  async run(handler: (item: Item) => unknown, options: RunOptions = {}): Promise<void> {
    await this.#run((items) => handler(items[0] as Item), 1, 0, options);
  }

  /**
   * Calls the handler with each batch. All items that it did not settle are acknowledged when its promise is
   * fulfilled, and fail if it throws. For errors of single entries, call `item.fail(error)`.
   */
  async runBatches(
    handler: (batch: Batch) => unknown,
    options: BatchOptions & RunOptions = {},
  ): Promise<void> {
    const { size, fillMs } = sizesOf(options);
    await this.#run((items) => handler(Batch.from(items) as Batch), size, fillMs, options);
  }

  /**
   * Ends the loop when the current items are processed; items that no worker started are returned to the
   * group. It can be called more than once.
   */
  stop(): void {
    this.#feed.stop();
  }

  /** Creates the group on each stream that lacks it. Reads do so, too. */
  createGroups(): Promise<void> {
    return this.#feed.createGroups();
  }

  async *#batches(size: number, fillMs: number): AsyncGenerator<Batch, void, undefined> {
    const end = this.#begin();
    try {
      for (;;) {
        const items = await this.#feed.take(size, fillMs);
        if (items.length === 0) return;
        yield Batch.from(items) as Batch;
        items.forEach((item) => this.#settling.release(item));
        this.#feed.done(items);
      }
    } finally {
      await end();
    }
  }

  async #run(
    handler: (items: Item[]) => unknown,
    size: number,
    fillMs: number,
    { concurrency = 1 }: RunOptions,
  ): Promise<void> {
    inRange("concurrency", concurrency, 1);
    const end = this.#begin();
    try {
      const workers = Array.from({ length: concurrency }, () => this.#work(handler, size, fillMs));
      const ended = await Promise.allSettled(workers);
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    } finally {
      await end();
    }
  }

  async #work(handler: (items: Item[]) => unknown, size: number, fillMs: number): Promise<void> {
    try {
      for (;;) {
        const items = await this.#feed.take(size, fillMs);
        if (items.length === 0) return;
        await this.#handled(items, async () => void (await handler(items)));
        this.#feed.done(items);
      }
    } catch (error) {
      this.stop(); // The other workers stop too: an error of a read ends the whole run.
      throw error;
    }
  }

  async #handled(items: Item[], handle: () => Promise<void>): Promise<void> {
    const settling = this.#settling;
    try {
      await this.#hooks.handling(items, handle);
    } catch (error) {
      const [first] = items as [Item];
      const others = items.length === 1 ? "" : ` and ${items.length - 1} more of its batch`;
      console.error(`the handler of ${first.key} ${first.id}${others} failed`, error);
      for (const item of items) if (settling.holds(item)) await settling.failed(item, error);
      return;
    }
    await settling.acknowledgeSoon(items.filter((item) => settling.holds(item)));
  }

  /** Starts a run, and returns the function that ends it. */
  #begin(): () => Promise<void> {
    if (this.#isRunning)
      throw refusedHere("the consumer is running already; use one object for each loop or run");
    this.#isRunning = true;
    const { signal, claimMinIdleMs, extendLeases } = this.options;
    const stop = () => this.stop();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const beat = extendLeases && claimMinIdleMs ? claimMinIdleMs / BEATS_PER_LEASE : undefined;
    const beats =
      beat === undefined
        ? undefined
        : setInterval(() => void this.#extendLeases(), timerMs(Math.max(1, beat)));
    this.#hooks.each((hook, options) => hook.started?.(options));
    return async () => {
      clearInterval(beats);
      signal?.removeEventListener("abort", stop);
      await this.#end();
    };
  }

  /** Acknowledges the finished items and returns those that no worker started. */
  async #end(): Promise<void> {
    let rest: Item[] = [];
    try {
      try {
        await this.#settling.flush();
      } finally {
        rest = this.#feed.end().filter((item) => this.#settling.holds(item));
      }
      // Only consumers that claim receive returned entries.
      if (this.options.claimMinIdleMs !== null)
        await this.#settling.sendAll(rest, "nack", "returned", { mode: "silent" });
    } finally {
      this.#settling.held.clear();
      this.#isRunning = false;
      this.#hooks.each((hook, options) => hook.stopped?.(options));
    }
  }

  /** Extends the leases of the held items. Those that no longer belong to this consumer are lost. */
  async #extendLeases(): Promise<void> {
    const { group, consumer } = this.options;
    const settling = this.#settling;
    for (const items of requestsOf([...settling.held.values()])) {
      const key = (items[0] as Item).key;
      const ids = items.map(({ id }) => id);
      try {
        const kept = new Set(await this.client.stream(key).group(group).extend(consumer, ids));
        settling.lose(items.filter((item) => !kept.has(item.id) && !item.isLeaving && settling.holds(item)));
      } catch (error) {
        if (isGroupMissing(error))
          settling.lose(items.filter((item) => !item.isLeaving && settling.holds(item)));
        else console.warn("leases were not extended", error);
      }
    }
  }
}

function sizesOf({ size = 100, fillMs = 0 }: BatchOptions): Required<BatchOptions> {
  return { size: inRange("size", size, 1), fillMs: inRange("fillMs", fillMs, 0) };
}
