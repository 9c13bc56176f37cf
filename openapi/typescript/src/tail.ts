/**
 * Follows a stream over Server-Sent Events.
 *
 * This module owns the position of one tail and the meaning of its events. It reads with `fetch`, not
 * `EventSource`, so that it can send an `Authorization` header, in browsers too.
 *
 * The id of every event is the position after it. A connection that breaks, or that brings nothing for three
 * heartbeats, is opened again with that position as `Last-Event-ID`: no entry is lost or repeated.
 */
import { linesOf } from "./byte-streams.js";
import type { Calls, Common } from "./calls.js";
import { type Entry, type EntryForm, fromWire } from "./entries.js";
import { connectionLost, errorOfProblem } from "./errors.js";
import type { TailErrors, Entry as WireEntry } from "./generated/index.js";
import { Following, OPENED } from "./following.js";
import { resumed } from "./resuming.js";
import { type ServerSentEvent, eventsOf } from "./server-sent-events.js";

/**
 * Entries after `from` and before `to` were trimmed before they could be read. If the stream was deleted and
 * created again, `to` is the first entry of the new stream, whose id can be less than `from`.
 */
export interface Gap {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

export interface TailOptions extends EntryForm {
  /** Yield entries after this id. `$`, the default: only new entries. `0`: all entries. */
  readonly after?: string;
  /** Only entries that match, such as `fields.status == "failed"`. The server tests them. */
  readonly filter?: string;
  /** Called if entries are missing; the tail continues after them. By default it logs a warning. */
  readonly onGap?: (gap: Gap) => void;
  /**
   * Called each time that the position of the tail is fixed: at the beginning, and after a broken connection.
   */
  readonly onOpen?: () => void;
  readonly signal?: AbortSignal;
}

/** Logs a gap; this is the default of `onGap`. */
export function logGap({ key, from, to }: Gap): void {
  console.warn(
    `stream ${key}: entries after ${from} and before ${to} were trimmed before they could be read`,
  );
}

/** The server sends something every 15 s. */
const SILENCE_MAX_MS = 45_000;

/** An entry, with the key of its stream. */
export interface StreamEntry extends Entry {
  readonly key: string;
}

/** Yields the entries of a stream as they arrive, over as many connections as needed. */
export function tail(key: string, calls: Calls, options: TailOptions): Following<Entry> {
  const { after = "$" } = options;
  const target = { url: "/v1/streams/{key}/entries:tail", path: { key }, query: { after } };
  return follow(new Tail(target, calls, options, (data) => (data as WireEntry[]).map(fromWire)));
}

/** Yields the entries of several streams as they arrive. `positions`: where each stream begins. */
export function tailStreams(
  positions: ReadonlyMap<string, string>,
  calls: Calls,
  options: TailOptions,
): Following<StreamEntry> {
  const query = { stream: [...positions.keys()], after: [...positions.values()] };
  return follow(new Tail({ url: "/v1/tail", path: {}, query }, calls, options, entriesOfStream));
}

interface Target {
  readonly url: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
}

function entriesOfStream(data: unknown): StreamEntry[] {
  const { key, entries } = data as { key: string; entries: WireEntry[] };
  return entries.map((entry) => ({ ...fromWire(entry), key }));
}

function follow<T>(following: Tail<T>): Following<T> {
  const resuming = {
    policy: following.calls.policy,
    signal: following.options.signal,
    neverGivesUp: () => following.wasConnected,
    delayMinMs: () => following.retryMs,
  };
  return new Following(resumed(resuming, () => following.entries()));
}

class Tail<T> {
  wasConnected = false;
  /** The pause that the server requests before a new connection. */
  retryMs = 0;
  #lastEventId = "";
  /** The incarnation of the stream in which the position was reached. */
  #incarnation: string | null = null;

  constructor(
    private readonly target: Target,
    readonly calls: Calls,
    readonly options: TailOptions,
    private readonly entriesOf: (data: unknown) => T[],
  ) {}

  /** Yields the entries of one connection. Throws at its end, because only the server can end a tail. */
  async *entries(): AsyncGenerator<T | typeof OPENED> {
    const { signal } = this.options;
    const body = await this.calls.open((common) => this.#open(common), signal);
    this.wasConnected = true;
    const lines = linesOf(body, { signal, silenceMaxMs: SILENCE_MAX_MS });
    for await (const event of eventsOf(lines)) {
      if (event.retryMs === undefined) {
        yield* this.#take(event);
      } else {
        this.#begin(event);
        yield OPENED;
      }
    }
    throw connectionLost(new Error("the server closed the tail"));
  }

  #open({ client, signal }: Common) {
    const { shape, encoding, filter } = this.options;
    const headers = this.#lastEventId === "" ? {} : { "Last-Event-ID": this.#lastEventId };
    const form = { ...(shape && { shape }), ...(encoding && { encoding }), ...(filter && { filter }) };
    const isKnown = this.#incarnation !== null && "key" in this.target.path;
    const known = isKnown ? { incarnation: this.#incarnation } : {};
    const query = { ...this.target.query, ...form, ...known };
    const { url, path } = this.target;
    const answer = client.get<unknown, TailErrors>({ url, path, query, headers, signal, parseAs: "stream" });
    return answer.then((opened) => {
      if (opened.response?.ok) this.#incarnation = opened.response.headers.get("X-Incarnation");
      return opened;
    });
  }

  /**
   * Reads the first block of a connection: the position of the tail, and the pause before a new connection.
   */
  #begin({ id, retryMs }: ServerSentEvent): void {
    this.#lastEventId = id ?? this.#lastEventId;
    this.retryMs = retryMs ?? this.retryMs;
    this.options.onOpen?.();
  }

  *#take({ event, data = "", id, incarnation }: ServerSentEvent): Generator<T> {
    if (event === "end" || event === "problem") throw errorOfProblem(JSON.parse(data));
    if (event === "entries") yield* this.entriesOf(JSON.parse(data));
    if (event === "gap") {
      const { incarnation: later = this.#incarnation, ...gap } = JSON.parse(data);
      this.#incarnation = later;
      (this.options.onGap ?? logGap)(gap as Gap);
    }
    this.#lastEventId = id ?? this.#lastEventId;
    this.#incarnation = incarnation ?? this.#incarnation;
  }
}
