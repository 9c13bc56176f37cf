/**
 * An iteration over entries that the server pushes, over as many connections as needed.
 *
 * This module owns credit, and opens the iteration again after a broken connection. Its subclasses in
 * `subscriptions.ts` define the requests and the items.
 */
import type { Waiting } from "../calls.js";
import { errorOfProblem } from "../errors.js";
import { Following, OPENED } from "../following.js";
import { resumed } from "../resuming.js";
import { abortable } from "../waiting.js";
import type { Connection, Ok } from "./connection.js";
import type { Arrival, Inbox, Move } from "./inbox.js";
import type { GapPush, Request } from "./messages.js";
import type { Session } from "./session.js";

export interface PushedOptions extends Waiting {
  /** The most entries that the program has or that are on their way to it; 100 by default. */
  readonly credit?: number;
  /** Called each time that the start position is fixed: at the beginning, and after a lost connection. */
  readonly onOpen?: () => void;
}

const CREDIT_DEFAULT = 100;

/** One subscription over all its connections. */
export abstract class Pushed<T> {
  #wasOpened = false;

  constructor(
    protected readonly session: Session,
    private readonly pushed: PushedOptions,
  ) {}

  /** The request that opens the subscription at its current position. */
  protected abstract get request(): Request;
  /** Whether entries that arrived before the connection was lost still belong to this program. */
  protected abstract get keepsAfterLoss(): boolean;
  /** Converts a pushed entry to an item of the iteration. */
  protected abstract item(arrival: Arrival): T;

  /** Handles the reply to the opening request. */
  protected opened(_ok: Ok): void {}
  /** Handles an entry that the program has finished. */
  protected passed(_arrival: Arrival): void {}
  /** Handles a new position without an entry. */
  protected moved(_move: Move): void {}
  /** Handles a gap. */
  protected missed(_push: GapPush): void {}
  /** Handles entries that arrived but that the program did not take before it ended the iteration. */
  protected async left(_connection: Connection, _arrivals: readonly Arrival[]): Promise<void> {}

  /** Yields the items. */
  iterate(): Following<T> {
    const { policy } = this.session;
    const resuming = { policy, signal: this.pushed.signal, neverGivesUp: () => this.#wasOpened };
    return new Following(resumed(resuming, () => this.#onOneConnection()));
  }

  async *#onOneConnection(): AsyncGenerator<T | typeof OPENED> {
    const connection = await this.session.connected(this.pushed);
    const sub = connection.newId();
    const inbox = connection.inboxOf(sub);
    try {
      await this.#open(connection, sub);
      yield OPENED;
      yield* this.#itemsOf(inbox, this.#credit(connection, sub));
    } finally {
      // After a lost connection there is nothing to leave, and the iteration has its error already.
      if (connection.isOpen) await this.#leave(connection, sub, inbox).catch(() => undefined);
      connection.forget(sub);
    }
  }

  async #open(connection: Connection, sub: number): Promise<void> {
    const credit = this.pushed.credit ?? CREDIT_DEFAULT;
    const opening = connection.request({ ...this.request, credit }, sub);
    this.opened(await abortable(opening, this.pushed.signal));
    this.#wasOpened = true;
    this.pushed.onOpen?.();
  }

  async *#itemsOf(inbox: Inbox, settle: () => void): AsyncGenerator<T> {
    for (;;) {
      const arrival = await abortable(inbox.take(), this.pushed.signal);
      if ("end" in arrival) throw errorOfProblem(arrival.end);
      if (inbox.loss !== undefined && !this.keepsAfterLoss) throw inbox.loss;
      if ("gap" in arrival) {
        this.missed(arrival);
        continue;
      }
      if (!("entry" in arrival)) {
        this.moved(arrival);
        continue;
      }
      yield this.item(arrival);
      this.passed(arrival);
      settle();
    }
  }

  async #leave(connection: Connection, sub: number, inbox: Inbox): Promise<void> {
    await connection.request({ op: "unsubscribe", sub });
    await this.left(connection, inbox.rest());
  }

  /** Returns a function that counts finished entries, and returns their credit to the server in halves. */
  #credit(connection: Connection, sub: number): () => void {
    const batch = Math.max(1, Math.floor((this.pushed.credit ?? CREDIT_DEFAULT) / 2));
    let done = 0;
    return () => {
      if (++done < batch || !connection.isOpen) return;
      // If the connection breaks, the inbox reports it.
      connection.request({ op: "credit", sub, entries: done }).catch(() => undefined);
      done = 0;
    };
  }
}
