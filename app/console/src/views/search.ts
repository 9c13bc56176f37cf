/**
 * Search for streams whose key contains a text: SCAN, a bounded number of keys in each request.
 *
 * The server examines the keys of a request in steps of a fraction of a millisecond, and serves its other clients
 * between them. The next request is sent after the reply. A cursor of the server is a position between 0 and 2^64, and
 * rises.
 */
import { type Name, identity, nameOf, shown } from "../names";
import { forEach, send } from "../server";
import { type Stream, findStream } from "../streams";

/** As many as one request may examine. */
const KEYS_PER_REQUEST = 10_000;
const CURSORS = 1n << 64n;
const MATCHES_MAX = 100;

export interface Found {
  readonly streams: readonly Stream[];
  /** The part of the keys that was examined, from 0 to 1. Cursors are evenly spread, so it is almost exact. */
  readonly part: number;
  /** Whether the search has more matches than it shows. */
  readonly isCut: boolean;
}

/** A search that can be stopped and continued: `run` goes on where the last run ended. */
export class Search {
  readonly #pattern: string;
  readonly #streams = new Map<string, Stream>();
  #cursor = 0n;
  #isComplete = false;
  #isCut = false;

  constructor(text: string) {
    this.#pattern = `*${text.replace(/[\\*?[\]^]/g, "\\$&")}*`;
  }

  /** Runs to the end, or to the number of matches that fit the page. Calls `report` after each request. */
  async run(signal: AbortSignal, report: (found: Found) => void): Promise<void> {
    while (!(this.#isComplete || this.#isCut || signal.aborted)) {
      await this.#step(signal);
      if (!signal.aborted) report(this.found());
    }
  }

  found(): Found {
    const streams = [...this.#streams.values()].sort((one, other) =>
      shown(one.key) < shown(other.key) ? -1 : 1,
    );
    return {
      streams: streams.slice(0, MATCHES_MAX),
      part: this.#isComplete ? 1 : Number((this.#cursor * 1_000n) / CURSORS) / 1_000,
      isCut: this.#isCut,
    };
  }

  async #step(signal: AbortSignal): Promise<void> {
    const body = ["SCAN", String(this.#cursor), "MATCH", this.#pattern, "COUNT", String(KEYS_PER_REQUEST)];
    const { result } = await send<{ result: [string, string[]] }>("POST", "/v1/command", { body, signal });
    const [next, found] = result;
    const keys = found.map((key): Name => nameOf(key, {}));
    const unknown = keys.filter((key) => !this.#streams.has(identity(key))).slice(0, MATCHES_MAX + 1);
    const rows = await forEach(unknown, (key) => findStream(key, signal));
    for (const row of rows) if (row !== undefined) this.#streams.set(identity(row.key), row);
    this.#cursor = BigInt(next);
    this.#isComplete = this.#cursor === 0n;
    this.#isCut = this.#streams.size > MATCHES_MAX;
  }
}
