/**
 * The client of one server, over HTTP and over one WebSocket.
 *
 * This module owns the settings and creates streams. `http` is the generated client, for operations without a
 * method here: `api.xtrim({ client: tailrace.http, ... })`.
 */
import { Calls } from "./calls.js";
import { Commands } from "./commands.js";
import { type Client, createClient, createConfig } from "./generated/client/index.js";
import * as api from "./generated/index.js";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
import { Stream } from "./stream.js";
import type { StreamEntry } from "./tail.js";
import { Session } from "./websocket/session.js";
import type { SocketConstructor } from "./websocket/sockets.js";
import type {
  ConsumeOptions,
  Delivery,
  StreamPosition,
  SubscribeOptions,
} from "./websocket/subscriptions.js";
import { Consumption, Subscription } from "./websocket/subscriptions.js";
import type { Following } from "./following.js";

/** The settings of a client. */
export interface TailraceOptions {
  /** The URL of the server, such as `http://127.0.0.1:8080`. A path before `/v1` is kept. */
  readonly url: string;
  /**
   * The token. It is sent as `Authorization: Bearer` and exchanged for a ticket for the WebSocket; no URL
   * contains it.
   */
  readonly token?: string;
  /** The retry policy; missing members have the values of `DEFAULT_RETRY`. */
  readonly retry?: Partial<RetryPolicy>;
  /** The time limit of a response; 75 s by default, because a read may wait for 60 s. */
  readonly timeoutMs?: number;
  /** Behind a gateway: how many replicas must confirm each write. Other servers ignore it. */
  readonly minReplicas?: number;
  /** Behind a gateway: `eventual` lets a replica answer reads. Other servers ignore it. */
  readonly consistency?: "strong" | "eventual";
  /** A function that replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /** A class that replaces the platform's `WebSocket`. */
  readonly webSocket?: SocketConstructor;
}

const TIMEOUT_DEFAULT_MS = 75_000;

/** A client of one server. */
export class Tailrace extends Commands {
  /** The generated client, configured for this server. */
  readonly http: Client;
  /** The WebSocket. It is opened when it is needed, and again after a lost connection. */
  readonly socket: Session;
  protected readonly calls: Calls;

  constructor(options: TailraceOptions) {
    super();
    const url = options.url.replace(/\/+$/, "");
    const policy = { ...DEFAULT_RETRY, ...options.retry };
    const timeoutMs = options.timeoutMs ?? TIMEOUT_DEFAULT_MS;
    this.http = httpClient(url, options);
    this.calls = new Calls(this.http, policy, timeoutMs);
    this.socket = new Session({
      url: `${url.replace(/^http/, "ws")}/v1/ws`,
      policy,
      timeoutMs,
      webSocket: options.webSocket,
      ticket: async () => (options.token === undefined ? undefined : this.#ticket()),
    });
  }

  /** Returns the stream with this key. This sends no request. */
  stream(key: string): Stream {
    return new Stream(key, this.calls, this.socket);
  }

  /** Yields entries of several streams as they arrive, over the WebSocket. */
  subscribe(streams: readonly StreamPosition[], options: SubscribeOptions = {}): Following<StreamEntry> {
    return new Subscription(this.socket, streams, options).iterate();
  }

  /**
   * Yields entries that a group delivers to one of its consumers from several streams, over the WebSocket.
   */
  consume(group: string, keys: readonly string[], options: ConsumeOptions): Following<Delivery> {
    return new Consumption(this.socket, group, keys, options).iterate();
  }

  /** Closes the WebSocket. Iterations over it end with an error. */
  close(): void {
    this.socket.close();
  }

  async #ticket(): Promise<string> {
    return (await this.calls.once((common) => api.createTicket(common))).ticket;
  }
}

function httpClient(url: string, options: TailraceOptions): Client {
  return createClient(
    createConfig({
      baseUrl: url,
      headers: {
        ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
        ...(options.minReplicas === undefined ? {} : { "Min-Replicas": String(options.minReplicas) }),
        ...(options.consistency === undefined ? {} : { Consistency: options.consistency }),
      },
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    }),
  );
}
