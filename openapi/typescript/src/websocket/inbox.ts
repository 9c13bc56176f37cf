/**
 * What was pushed to one subscription, between the socket that brings it and the iteration that takes it.
 *
 * It owns the order of it. It is bounded by the credit that the subscription gave.
 */
import type { TailraceError } from "../errors.js";
import type { EndPush, GapPush, Push, PushedEntry } from "./messages.js";

/** One entry of a push. `position` is where the subscription stands behind it. */
export interface Arrival {
  readonly key: string;
  readonly entry: PushedEntry;
  readonly position: string;
}

export class Inbox {
  readonly #items: (Arrival | GapPush | EndPush)[] = [];
  #loss: TailraceError | undefined;
  #changed: () => void = () => undefined;

  put(push: Push): void {
    this.#items.push(...("entries" in push ? arrivalsOf(push) : [push]));
    this.#changed();
  }

  /** Nothing comes any more. */
  end(loss: TailraceError): void {
    this.#loss = loss;
    this.#changed();
  }

  get loss(): TailraceError | undefined {
    return this.#loss;
  }

  /** What came first. Throws why nothing comes, once all that came was taken. One caller at a time. */
  async take(): Promise<Arrival | GapPush | EndPush> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#loss !== undefined) throw this.#loss;
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }

  /** The entries that came and were not taken. */
  rest(): Arrival[] {
    return this.#items.splice(0).filter((item) => "entry" in item);
  }
}

/** A push's own position lies behind entries that a filter passed over. */
function arrivalsOf({ key, entries, next }: Extract<Push, { entries: unknown }>): Arrival[] {
  const last = entries.length - 1;
  return entries.map((entry, index) => ({ key, entry, position: index === last ? next : entry.id }));
}
