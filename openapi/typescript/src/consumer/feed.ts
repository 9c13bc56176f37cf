/**
 * The source of a consumer's items: reads entries when workers need some, and no earlier.
 *
 * This module owns the reads of a consumer. A worker that finds no ready item reads the next entries for all
 * workers; the others wait for it, or for an item that becomes ready. At most `batch` items wait for a worker:
 * slow handlers make the consumer read later.
 */
import type { Tailrace } from "../client.js";
import type { Delivered, Entry } from "../entries.js";
import type { TailraceError } from "../errors.js";
import { isGroupMissing } from "../missing.js";
import { DEFAULT_RETRY, delayMs, mayRepeat } from "../retry.js";
import { timerMs } from "../waiting.js";
import { type Hooking } from "./hooks.js";
import { Item } from "./item.js";
import type { CheckedOptions } from "./options.js";
import { type Settling, nameOf } from "./settling.js";
import { WorkQueue } from "./work-queue.js";

export class Feed {
  readonly #queue: WorkQueue;
  #isReading = false;
  #isStopped = false;
  #failures = 0;
  /** The positions to read from: `>`, or an id for the consumer's own pending entries after it. */
  #positions: Map<string, string>;
  /** The last entry that the consumer saw, where a group that is created again begins. */
  readonly #newest: Map<string, string>;
  /** The newest entry that the consumer received, by stream. */
  readonly #seen = new Map<string, Delivered>();
  /** The streams on which the settings of the group are still to be set. */
  #unset: string[];
  #change = occasion();

  constructor(
    private readonly client: Tailrace,
    private readonly options: CheckedOptions,
    private readonly settling: Settling,
    private readonly hooks: Hooking,
  ) {
    this.#queue = new WorkQueue(options.batch, options.orderBy);
    this.#newest = new Map(options.streams.map((key) => [key, options.after]));
    this.#positions = this.#startingPositions();
    this.#unset = [...options.streams];
  }

  /**
   * Waits for items and returns at most `most`; none once the feed is stopped. After the first item, it waits
   * up to `fillMs` for more of them.
   */
  async take(most: number, fillMs = 0): Promise<Item[]> {
    const items = await this.#take(most, Infinity);
    const deadline = Date.now() + fillMs;
    while (items.length > 0 && items.length < most) {
      const more = await this.#take(most - items.length, deadline);
      if (more.length === 0) break;
      items.push(...more);
    }
    return items;
  }

  /** Lets workers have the successors of these items in their order. */
  done(items: readonly Item[]): void {
    this.#queue.done(items);
    this.#notify();
  }

  /** Returns no further items. A read that is under way ends first. */
  stop(): void {
    this.#isStopped = true;
    this.#notify();
  }

  /** Returns the items that no worker took, and makes the feed ready for another run. */
  end(): Item[] {
    this.#isStopped = false;
    this.#positions = this.#startingPositions();
    this.#unset = [...this.options.streams];
    return this.#queue.drain();
  }

  async #take(most: number, deadline: number): Promise<Item[]> {
    for (;;) {
      // The worker may wait for new entries from now on.
      if (!this.#queue.hasReady) await this.settling.flush();
      const items = await this.#takeOrRead(most, deadline);
      if (items !== undefined) return items;
      try {
        await this.#read(deadline);
      } finally {
        this.#isReading = false;
        this.#notify();
      }
    }
  }

  /** Returns items, or none at the end; undefined if this worker has to read entries. */
  async #takeOrRead(most: number, deadline: number): Promise<Item[] | undefined> {
    while (!this.#isStopped) {
      const items = this.#queue.take(most);
      if (items.length > 0) return items;
      if (Date.now() >= deadline) return [];
      if (!this.#isReading && this.#queue.room > 0) {
        this.#isReading = true;
        return undefined;
      }
      await this.#changed(deadline);
    }
    return [];
  }

  async #read(deadline: number): Promise<void> {
    const { group, consumer, claimMinIdleMs, minCount, lingerMs } = this.options;
    const catchesUp = [...this.#positions.values()].some((position) => position !== ">");
    const waitMs = catchesUp ? undefined : Math.max(0, Math.min(this.options.waitMs, deadline - Date.now()));
    const maxCount = this.#queue.room;
    const gathering =
      catchesUp || minCount === undefined ? {} : { minCount: Math.min(minCount, maxCount), lingerMs };
    const bounds = { maxCount, waitMs, claimMinIdleMs: claimMinIdleMs ?? undefined, ...gathering };
    let pages;
    try {
      await this.#setSettings();
      pages = await this.client.readGroup(group, consumer, Object.fromEntries(this.#positions), bounds);
    } catch (error) {
      await this.#recover(error);
      return;
    }
    this.#failures = 0;
    for (const [key, { entries, next }] of pages) {
      this.#moveOn(key, entries, next);
      const some = entries.filter((entry) => !this.settling.held.has(nameOf(entry)));
      if (some.length > 0) this.hooks.each((hook, options) => hook.received?.(options, key, some.length));
      for (const entry of some) await this.#sort(entry);
    }
  }

  /** Queues the entry as an item, unless it was deleted or delivered too often. */
  async #sort(entry: Delivered): Promise<void> {
    const { settling } = this;
    const { deliveries } = entry;
    if (entry.deleted) return settling.sendAll([entry], "ack", "acknowledged");
    const mayBeDead = deliveries >= (this.options.maxDeliveries ?? Infinity);
    if (mayBeDead && (await settling.verdict(entry.key, deliveries)) === "bury")
      return settling.bury(entry, deliveries, "");
    const item = new Item(entry, (items, how) => settling.settleNow(items, how));
    settling.hold(item);
    try {
      this.#queue.put(item);
    } catch (error) {
      await settling.failed(item, error); // An error of `orderBy` concerns only its item.
    }
  }

  #moveOn(key: string, entries: readonly Delivered[], next: string): void {
    if (this.#positions.get(key) !== ">") this.#positions.set(key, entries.length > 0 ? next : ">");
    const last = entries.at(-1);
    if (last === undefined) return;
    if (this.#seen.has(key) && !isAfter(last.id, this.#newest.get(key) ?? "")) return;
    this.#newest.set(key, last.id);
    this.#seen.set(key, last);
  }

  /** Creates the missing group, or waits before the next read. Throws if neither can help. */
  async #recover(error: unknown): Promise<void> {
    if (isGroupMissing(error) && this.options.createGroup) {
      if (await this.#isAnotherStream(error)) this.#beginAnew(error);
      return this.createGroups();
    }
    if (!mayRepeat(error, true)) throw error;
    const pauseMs = delayMs(DEFAULT_RETRY, ++this.#failures, error);
    // Entries of a lost response may be pending for this consumer.
    if (this.options.claimMinIdleMs === null) this.#positions = this.#startingPositions();
    console.warn(`read failed, next attempt in ${Math.round(pauseMs)} ms`, error);
    this.hooks.each((hook, options) => hook.readFailed?.(options, error, pauseMs));
    const deadline = Date.now() + pauseMs;
    while (!this.#isStopped && Date.now() < deadline) await this.#changed(deadline);
  }

  /**
   * Returns whether the stream of a missing group is not the one that the consumer has read, as far as the
   * newest entry tells.
   */
  async #isAnotherStream({ key, problem }: TailraceError): Promise<boolean> {
    const seen = this.#seen.get(key ?? "");
    if (key === null || seen === undefined || problem["missing"] === "stream") return true;
    try {
      const found = await this.client.stream(key).get(seen.id);
      return found === undefined || !isSameContent(found, seen);
    } catch (refused) {
      if (mayRepeat(refused, true)) throw refused;
      return true;
    }
  }

  /**
   * Begins before the first entry of the stream. The held items belong to an earlier stream. Of a missing
   * stream, `$` is the beginning: entries that are appended before the group exists again are new.
   */
  #beginAnew({ key: name, problem }: TailraceError): void {
    const key = name ?? "";
    const isUnread = problem["missing"] === "stream" && this.#newest.get(key) === "$";
    if (!this.#seen.delete(key)) return void (isUnread && this.#newest.set(key, "0-0"));
    this.#newest.set(key, "0-0");
    this.settling.lose([...this.settling.held.values()].filter((item) => item.key === key));
  }

  /** Sets the settings of the group on each stream, once. */
  async #setSettings(): Promise<void> {
    const { settings, group } = this.options;
    if (settings === undefined) return;
    for (let key = this.#unset.at(-1); key !== undefined; key = this.#unset.at(-1)) {
      const target = settings.max_deliveries === undefined ? {} : { dead_letter_stream: `${key}:dead` };
      await this.client
        .stream(key)
        .group(group)
        .configure({ ...target, ...settings });
      this.#unset.pop();
    }
  }

  /** Creates the group on each stream that lacks it. A new group has no settings. */
  async createGroups(): Promise<void> {
    this.#unset = [...this.options.streams];
    for (const [key, after] of this.#newest)
      await this.client.stream(key).group(this.options.group).create({ after, createStream: true });
  }

  #startingPositions(): Map<string, string> {
    const position = this.options.claimMinIdleMs === null ? "0-0" : ">";
    return new Map(this.options.streams.map((key) => [key, position]));
  }

  #notify(): void {
    this.#change.comes();
    this.#change = occasion();
  }

  /** Waits for the next change, until the deadline. */
  async #changed(deadline: number): Promise<void> {
    if (deadline === Infinity) return this.#change.came;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timerMs(deadline - Date.now()));
    });
    await Promise.race([this.#change.came, late]);
    clearTimeout(timer);
  }
}

function occasion(): { readonly came: Promise<void>; readonly comes: () => void } {
  let comes = (): void => undefined;
  const came = new Promise<void>((resolve) => (comes = resolve));
  return { came, comes: () => comes() };
}

/** Returns whether two entries have the same content. */
function isSameContent(one: Entry, other: Entry): boolean {
  return JSON.stringify(one.pairs ?? one.fields) === JSON.stringify(other.pairs ?? other.fields);
}

/** Returns whether the first id is greater. A position that is not an id is before all ids. */
function isAfter(one: string, other: string): boolean {
  const [ms = -1n, seq = 0n] = numbersOf(one);
  const [otherMs = -1n, otherSeq = 0n] = numbersOf(other);
  return ms > otherMs || (ms === otherMs && seq > otherSeq);
}

function numbersOf(id: string): bigint[] {
  return /^\d+(-\d+)?$/.test(id) ? id.split("-").map(BigInt) : [];
}
