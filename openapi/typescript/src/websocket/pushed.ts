/**
 * One iteration over entries that the server pushes, on one connection after another.
 *
 * It owns credit, and when the iteration is opened again. What is requested, and what an entry becomes, its subclasses
 * in `subscriptions.ts` decide.
 */
import type { Waiting } from "../calls.js";
import { errorOfProblem } from "../errors.js";
import { resumed } from "../resuming.js";
import type { Gap } from "../tail.js";
import { abortable } from "../waiting.js";
import type { Connection, Ok } from "./connection.js";
import type { Arrival, Inbox } from "./inbox.js";
import type { Request } from "./messages.js";
import type { Session } from "./session.js";

export interface PushedOptions extends Waiting {
  /** How many entries may be with the program, or on their way to it; 100 by default. */
  readonly credit?: number;
  /** Told each time that the subscription stands: at the beginning, and after a lost connection. */
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

  /** What opens it, where it stands now. */
  protected abstract get request(): Request;
  /** Whether what came before a connection was lost is still this program's. */
  protected abstract get keepsAfterLoss(): boolean;
  protected abstract item(arrival: Arrival): T;

  /** What the server answered when it was opened. */
  protected opened(_ok: Ok): void {}
  /** The program is done with it. */
  protected passed(_arrival: Arrival): void {}
  protected missed(_gap: Gap): void {}
  /** The program left before it took these. */
  protected async left(_connection: Connection, _arrivals: readonly Arrival[]): Promise<void> {}

  iterate(): AsyncGenerator<T, void, undefined> {
    const { policy } = this.session;
    const resuming = { policy, signal: this.pushed.signal, isSteadfast: () => this.#wasOpened };
    return resumed(resuming, () => this.#onOneConnection());
  }

  async *#onOneConnection(): AsyncGenerator<T> {
    const connection = await this.session.connected(this.pushed);
    const sub = connection.newId();
    const inbox = connection.inboxOf(sub);
    try {
      await this.#open(connection, sub);
      yield* this.#itemsOf(inbox, this.#credit(connection, sub));
    } finally {
      // Where the connection is lost there is nothing to leave, and whoever iterates knows of it.
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
        this.missed({ key: arrival.key, ...arrival.gap });
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

  /** Counts entries that are done, and gives their credit back to the server by the half. */
  #credit(connection: Connection, sub: number): () => void {
    const batch = Math.max(1, Math.floor((this.pushed.credit ?? CREDIT_DEFAULT) / 2));
    let done = 0;
    return () => {
      if (++done < batch || !connection.isOpen) return;
      // Where the connection breaks meanwhile, the inbox says so.
      connection.request({ op: "credit", sub, entries: done }).catch(() => undefined);
      done = 0;
    };
  }
}
