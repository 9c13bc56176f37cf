/**
 * Following a stream over Server-Sent Events.
 *
 * It owns the position of one tail and what its events mean. It reads with `fetch`, not `EventSource`, so that an
 * `Authorization` header can be sent, in browsers too.
 *
 * Every event's id is the position behind it. A connection that breaks, or that brings nothing for three heartbeats,
 * is made again with that position as `Last-Event-ID`: nothing is lost and nothing comes twice.
 */
import { linesOf } from "./byte-streams.js";
import type { Calls, Common } from "./calls.js";
import { type Entry, type EntryForm, fromWire } from "./entries.js";
import { connectionLost, errorOfProblem } from "./errors.js";
import type { TailData, TailErrors, Entry as WireEntry } from "./generated/index.js";
import { resumed } from "./resuming.js";
import { type ServerSentEvent, eventsOf } from "./server-sent-events.js";

/** Entries after `from` and before `to` were trimmed away before they could be read. */
export interface Gap {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

export interface TailOptions extends EntryForm {
  /** Entries after this id; `$`, the default: what comes from now on; `0`: all. */
  readonly after?: string;
  /** Told where entries are missing; the tail goes on behind them. */
  readonly onGap?: (gap: Gap) => void;
  /** Told each time that the tail stands and its position is known: at the beginning, and after a cut. */
  readonly onOpen?: () => void;
  readonly signal?: AbortSignal;
}

/** The server says something every 15 s. */
const SILENCE_MAX_MS = 45_000;

export function tail(
  key: string,
  calls: Calls,
  options: TailOptions,
): AsyncGenerator<Entry, void, undefined> {
  const following = new Tail(key, calls, options);
  const resuming = {
    policy: calls.policy,
    signal: options.signal,
    isSteadfast: () => following.wasConnected,
    delayMinMs: () => following.retryMs,
  };
  return resumed(resuming, () => following.entries());
}

class Tail {
  wasConnected = false;
  /** How long the server asks to wait before coming back. */
  retryMs = 0;
  #lastEventId = "";

  constructor(
    private readonly key: string,
    private readonly calls: Calls,
    private readonly options: TailOptions,
  ) {}

  /** The entries of one connection. Throws where it ends, as only the server can end a tail. */
  async *entries(): AsyncGenerator<Entry> {
    const { signal } = this.options;
    const body = await this.calls.open((common) => this.#open(common), signal);
    this.wasConnected = true;
    const lines = linesOf(body, { signal, silenceMaxMs: SILENCE_MAX_MS });
    for await (const event of eventsOf(lines)) {
      if (event.retryMs !== undefined) this.#begin(event);
      else yield* this.#take(event);
    }
    throw connectionLost(new Error("the server closed the tail"));
  }

  #open({ client, signal }: Common) {
    const { after = "$", shape, encoding } = this.options;
    const headers = this.#lastEventId === "" ? {} : { "Last-Event-ID": this.#lastEventId };
    const query: TailData["query"] = { after, ...(shape && { shape }), ...(encoding && { encoding }) };
    const url: TailData["url"] = "/v1/streams/{key}/entries:tail";
    const path = { key: this.key };
    return client.get<unknown, TailErrors>({ url, path, query, headers, signal, parseAs: "stream" });
  }

  /** The first block of a connection says where the tail stands, and when to come back where it is lost. */
  #begin({ id, retryMs }: ServerSentEvent): void {
    this.#lastEventId = id ?? this.#lastEventId;
    this.retryMs = retryMs ?? this.retryMs;
    this.options.onOpen?.();
  }

  *#take({ event, data = "", id }: ServerSentEvent): Generator<Entry> {
    if (event === "end" || event === "error") throw errorOfProblem(JSON.parse(data));
    if (event === "entries") yield* (JSON.parse(data) as WireEntry[]).map(fromWire);
    if (event === "gap") this.options.onGap?.(JSON.parse(data) as Gap);
    this.#lastEventId = id ?? this.#lastEventId;
  }
}
