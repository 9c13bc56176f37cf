/**
 * The items that wait for a worker, and their order. This module sends nothing.
 *
 * Without an order, workers take items as they arrived. With an order, items that share a key form a lane: one
 * worker has the lane at a time, and the next item of the lane becomes ready when that worker is done.
 */
import type { Item } from "./item.js";
import type { ConsumerOptions } from "./options.js";

export class WorkQueue {
  readonly #keyOf: ((item: Item) => unknown) | undefined;
  #ready: Item[] = [];
  readonly #lanes = new Map<unknown, Item[]>();
  readonly #laneOf = new WeakMap<Item, unknown>();
  #blocked = 0;

  constructor(
    private readonly capacity: number,
    orderBy: ConsumerOptions["orderBy"],
  ) {
    if (typeof orderBy === "string") this.#keyOf = (item) => item.fields[orderBy];
    else if (orderBy !== undefined) this.#keyOf = (item) => orderBy(item.fields);
  }

  /** How many more items may wait. */
  get room(): number {
    return this.capacity - this.#ready.length - this.#blocked;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Adds an item that arrived. Throws what the function of the order throws. */
  put(item: Item): void {
    if (this.#keyOf === undefined) {
      this.#ready.push(item);
      return;
    }
    const key = this.#keyOf(item);
    this.#laneOf.set(item, key);
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#lanes.set(key, []);
      this.#ready.push(item);
    } else {
      lane.push(item);
      this.#blocked++;
    }
  }

  /** Returns at most `most` items, with their successors of the same lane; none if none is ready. Lost items are dropped. */
  take(most: number): Item[] {
    const items: Item[] = [];
    while (items.length < most) {
      const item = this.#ready.shift();
      if (item === undefined) break;
      if (item.isLost) {
        this.done([item]);
        continue;
      }
      items.push(item);
      const lane = this.#lanes.get(this.#laneOf.get(item)) ?? [];
      const successors = this.#keyOf === undefined ? [] : lane.splice(0, most - items.length);
      this.#blocked -= successors.length;
      items.push(...successors.filter((successor) => !successor.isLost));
    }
    return items;
  }

  /** Frees the lanes of items that a worker took and has finished. */
  done(items: readonly Item[]): void {
    if (this.#keyOf === undefined) return;
    for (const key of new Set(items.map((item) => this.#laneOf.get(item)))) {
      const next = this.#lanes.get(key)?.shift();
      if (next === undefined) {
        this.#lanes.delete(key);
      } else {
        this.#ready.push(next);
        this.#blocked--;
      }
    }
  }

  /** Removes and returns all items that wait, and forgets all lanes. */
  drain(): Item[] {
    const rest = [...this.#ready, ...[...this.#lanes.values()].flat()];
    this.#ready = [];
    this.#lanes.clear();
    this.#blocked = 0;
    return rest;
  }
}
