/**
 * The pushes of one subscription, between the socket that receives them and the iteration that takes them.
 *
 * This module owns their order. The credit of the subscription limits their number.
 */
import type { TailraceError } from "../errors.js";
import type { EndPush, GapPush, Push, PushedEntry } from "./messages.js";

/**
 * One entry of a push. `position` is the position of the subscription after this entry. `incarnation`: that of
 * the stream, if the push has it.
 */
export interface Arrival extends Move {
  readonly entry: PushedEntry;
}

/** A new position without an entry: the filter of the subscription removed all entries before it. */
export interface Move {
  readonly key: string;
  readonly position: string;
  readonly incarnation?: string | undefined;
}

export class Inbox {
  readonly #items: (Arrival | Move | GapPush | EndPush)[] = [];
  #loss: TailraceError | undefined;
  #changed: () => void = () => undefined;

  put(push: Push): void {
    this.#items.push(...("entries" in push ? arrivalsOf(push) : [push]));
    this.#changed();
  }

  /** Records that no further pushes arrive. */
  end(loss: TailraceError): void {
    this.#loss = loss;
    this.#changed();
  }

  get loss(): TailraceError | undefined {
    return this.#loss;
  }

  /**
   * Returns the oldest push. Once all are taken, throws the reason why no more arrive. One caller at a time.
   */
  async take(): Promise<Arrival | Move | GapPush | EndPush> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#loss !== undefined) throw this.#loss;
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }

  /** Returns the entries that arrived and were not taken. */
  rest(): Arrival[] {
    return this.#items.splice(0).filter((item) => "entry" in item);
  }
}

/** Returns the entries of a push. The position of the push itself is after entries that a filter removed. */
function arrivalsOf(push: Extract<Push, { entries: unknown }>): (Arrival | Move)[] {
  const { key, entries, next, incarnation } = push;
  if (entries.length === 0) return [{ key, position: next, incarnation }];
  const last = entries.length - 1;
  return entries.map((entry, index) => ({
    key,
    entry,
    position: index === last ? next : entry.id,
    incarnation,
  }));
}
