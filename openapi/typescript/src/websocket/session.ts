/**
 * The client's one WebSocket over all its connections: opened when it is needed, and again when it was lost.
 *
 * It owns when a connection is made and which one is used. Subscriptions come back by themselves
 * (`subscriptions.ts`); a request is made again only where that does no harm.
 */
import type { Waiting } from "../calls.js";
import { TailraceError, closedHere } from "../errors.js";
import { type RetryPolicy, withRetries } from "../retry.js";
import { abortable } from "../waiting.js";
import { Connection, type Ok } from "./connection.js";
import { type Request, SUBPROTOCOL, TICKET_PREFIX } from "./messages.js";
import { type SocketConstructor, failureToConnect, platformSocket } from "./sockets.js";

export interface SessionSettings {
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
  readonly webSocket?: SocketConstructor | undefined;
  /** A single-use ticket, where the server asks for tokens. */
  ticket(): Promise<string | undefined>;
}

export interface RequestOptions extends Waiting {
  /** Whether carrying it out twice does the same as once, so that a lost reply can be asked for again. */
  readonly repeatable?: boolean;
}

export class Session {
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(private readonly settings: SessionSettings) {}

  get policy(): RetryPolicy {
    return this.settings.policy;
  }

  /** What the server answers to any request of the protocol. */
  request(request: Request, options: RequestOptions = {}): Promise<Ok> {
    const { repeatable = false, signal } = options;
    return withRetries({ policy: this.policy, repeatable, signal }, async () => {
      const connection = await this.connected(options);
      return abortable(connection.request(request), signal);
    });
  }

  /** The connection, made where there is none; one attempt, shared by all who ask meanwhile. */
  async connected({ signal }: Waiting = {}): Promise<Connection> {
    if (this.#isClosed) throw closedHere();
    if (this.#connection?.isOpen) return this.#connection;
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return abortable(this.#connecting, signal);
  }

  /** Close the connection for good: what waits throws CLOSED or CONNECTION_LOST. */
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
