/**
 * The WebSocket of a client, over all its connections: opened when it is needed, and again after a lost
 * connection.
 *
 * This module decides when to connect and which connection to use. Subscriptions resume on their own
 * (`subscriptions.ts`); a request is repeated only if that does no harm.
 */
import type { Waiting } from "../calls.js";
import { TailraceError, closedHere } from "../errors.js";
import { type RetryPolicy, withRetries } from "../retry.js";
import { abortable } from "../waiting.js";
import { Connection, type Ok } from "./connection.js";
import { type Request, SUBPROTOCOL, TICKET_PREFIX } from "./messages.js";
import { type SocketConstructor, failureToConnect, platformSocket } from "./sockets.js";

export interface SessionSettings {
  /** A `ws:` or `wss:` URL. */
  readonly url: string;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
  readonly webSocket?: SocketConstructor | undefined;
  /** Returns a single-use ticket if the client has a token. */
  ticket(): Promise<string | undefined>;
}

export interface RequestOptions extends Waiting {
  /** Whether a repetition has no further effect, so that the request can be repeated after a lost reply. */
  readonly repeatable?: boolean;
}

/** The WebSocket of a client. */
export class Session {
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(private readonly settings: SessionSettings) {}

  get policy(): RetryPolicy {
    return this.settings.policy;
  }

  /** Sends any request of the protocol and returns the server's reply. */
  request(request: Request, options: RequestOptions = {}): Promise<Ok> {
    const { repeatable = false, signal } = options;
    return withRetries({ policy: this.policy, repeatable, signal }, async () => {
      const connection = await this.connected(options);
      return abortable(connection.request(request), signal);
    });
  }

  /** Returns the connection, and connects if there is none. One attempt, which concurrent callers share. */
  async connected({ signal }: Waiting = {}): Promise<Connection> {
    if (this.#isClosed) throw closedHere();
    if (this.#connection?.isOpen) return this.#connection;
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return abortable(this.#connecting, signal);
  }

  /** Closes the connection for good. Waiting calls throw CLOSED or CONNECTION_LOST. */
  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  async #connect(): Promise<Connection> {
    const ticket = await this.#ticket();
    const socket = this.settings.webSocket ?? (await platformSocket());
    const protocols = ticket === undefined ? [SUBPROTOCOL] : [SUBPROTOCOL, `${TICKET_PREFIX}${ticket}`];
    const connection = await Connection.over(
      new socket(this.settings.url, protocols),
      this.settings.timeoutMs,
    );
    if (this.#isClosed) connection.close();
    this.#connection = connection;
    return connection;
  }

  async #ticket(): Promise<string | undefined> {
    try {
      return await this.settings.ticket();
    } catch (error) {
      throw error instanceof TailraceError ? failureToConnect(error) : error;
    }
  }
}
