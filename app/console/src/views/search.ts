/**
 * Search for streams whose key contains a text: SCAN, a bounded number of keys in each request.
 *
 * A request examines 500 keys, which takes less than half a millisecond of the server's time, and the next one is sent
 * after its reply: other clients of the server wait for one request at most. A cursor of the server is a position
 * between 0 and 2^64, and rises.
 */
import { type Name, identity, nameOf, shown } from "../names";
import { type Reply, forEach, pipeline } from "../server";
import { type Stream, findStream } from "../streams";

const KEYS_PER_STEP = 500;
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

  /** Runs to the end, or to the number of matches that fit the page. Calls `report` after each step. */
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
    const scan = ["SCAN", String(this.#cursor), "MATCH", this.#pattern, "COUNT", String(KEYS_PER_STEP)];
    const [reply] = await pipeline([scan], { signal });
    const [next, found] = scanned(reply!);
    const keys = found.map((key): Name => nameOf(key, {}));
    const unknown = keys.filter((key) => !this.#streams.has(identity(key))).slice(0, MATCHES_MAX + 1);
    const rows = await forEach(unknown, (key) => findStream(key, signal));
    for (const row of rows) if (row !== undefined) this.#streams.set(identity(row.key), row);
    this.#cursor = BigInt(next);
    this.#isComplete = this.#cursor === 0n;
    this.#isCut = this.#streams.size > MATCHES_MAX;
  }
}

/** Returns the next cursor and the keys. Throws an error of the server. */
function scanned(reply: Reply): [string, string[]] {
  if ("error" in reply) throw new Error(reply.error);
  return reply.result as [string, string[]];
}
