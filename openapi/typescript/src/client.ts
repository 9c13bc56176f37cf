/**
 * `Tailrace`: one server, spoken to over HTTP and over one WebSocket.
 *
 * It owns the settings and hands out streams. `http` is the generated client, for whatever has no method here:
 * `api.xtrim({ client: tailrace.http, ... })`.
 */
import { Calls, type Waiting } from "./calls.js";
import { type Client, createClient, createConfig } from "./generated/client/index.js";
import * as api from "./generated/index.js";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
import { Stream } from "./stream.js";
import { Session } from "./websocket/session.js";
import type { SocketConstructor } from "./websocket/sockets.js";
import type {
  ConsumeOptions,
  Delivery,
  StreamEntry,
  StreamPosition,
  SubscribeOptions,
} from "./websocket/subscriptions.js";
import { Consumption, Subscription } from "./websocket/subscriptions.js";

export interface TailraceOptions {
  /** `http://127.0.0.1:8080`; a path in front of `/v1` is kept. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`, and changed into a ticket for the WebSocket. Never part of a URL. */
  readonly token?: string;
  readonly retry?: Partial<RetryPolicy>;
  /** How long an answer may take; above the 60 s that a read may wait. */
  readonly timeoutMs?: number;
  /** In place of the platform's. */
  readonly fetch?: typeof fetch;
  /** In place of the platform's. */
  readonly webSocket?: SocketConstructor;
}

/** A word of a Redis command: bytes that are not UTF-8 as `{ base64 }`. */
export type CommandWord = string | number | { readonly base64: string };

const TIMEOUT_DEFAULT_MS = 75_000;

export class Tailrace {
  /** The generated client, set up for this server. */
  readonly http: Client;
  /** The WebSocket: opened when it is needed, and again when it was lost. */
  readonly socket: Session;
  readonly #calls: Calls;

  constructor(options: TailraceOptions) {
    const url = options.url.replace(/\/+$/, "");
    const policy = { ...DEFAULT_RETRY, ...options.retry };
    const timeoutMs = options.timeoutMs ?? TIMEOUT_DEFAULT_MS;
    this.http = httpClient(url, options);
    this.#calls = new Calls(this.http, policy, timeoutMs);
    this.socket = new Session({
      url: `${url.replace(/^http/, "ws")}/v1/ws`,
      policy,
      timeoutMs,
      webSocket: options.webSocket,
      ticket: async () => (options.token === undefined ? undefined : this.#ticket()),
    });
  }

  stream(key: string): Stream {
    return new Stream(key, this.#calls, this.socket);
  }

  /** Entries of several streams as they come, over the WebSocket. */
  subscribe(
    streams: readonly StreamPosition[],
    options: SubscribeOptions = {},
  ): AsyncGenerator<StreamEntry, void, undefined> {
    return new Subscription(this.socket, streams, options).iterate();
  }

  /** Entries of a group over several streams, for one of its consumers, over the WebSocket. */
  consume(
    group: string,
    keys: readonly string[],
    options: ConsumeOptions,
  ): AsyncGenerator<Delivery, void, undefined> {
    return new Consumption(this.socket, group, keys, options).iterate();
  }

  /** A command in Redis's own words; its RESP2 reply as JSON. Not repeated where its answer is lost. */
  async command(words: readonly CommandWord[], options: Waiting = {}): Promise<api.JsonValue> {
    const request = { body: [...words] };
    const called = { repeatable: false, ...options };
    return (await this.#calls.call((common) => api.command({ ...common, ...request }), called)).result;
  }

  /** Close the WebSocket; iterations over it end with an error. */
  close(): void {
    this.socket.close();
  }

  async #ticket(): Promise<string> {
    return (await this.#calls.once((common) => api.createTicket(common))).ticket;
  }
}

function httpClient(url: string, options: TailraceOptions): Client {
  return createClient(
    createConfig({
      baseUrl: url,
      headers: options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` },
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    }),
  );
}
