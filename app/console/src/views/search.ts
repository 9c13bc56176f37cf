/**
 * Search for streams whose key contains a text: SCAN, a bounded number of keys in each request.
 *
 * A request examines 1 000 keys in each lane, which takes one or two milliseconds of the server's time, and the next one
 * is sent after its reply: other clients of the server wait for one request at most. A cursor of the server is a
 * position between 0 and 2^64, and rises; a lane is a part of the cursors. The first lane ends only at its bound or
 * at the end of the scan, so no stream is missed even where a server has other cursors: the lanes then find the same
 * streams twice, and the second find is dropped.
 */
import { type Name, identity, nameOf, shown } from "../names";
import { type Reply, forEach, pipeline } from "../server";
import { type Stream, findStream } from "../streams";

const KEYS_PER_STEP = 1_000;
const LANES = 2n;
const CURSORS = 1n << 64n;
const MATCHES_MAX = 100;

interface Lane {
  readonly from: bigint;
  readonly to: bigint;
  at: bigint;
}

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
  readonly #lanes: readonly Lane[];
  readonly #streams = new Map<string, Stream>();
  #isCut = false;

  constructor(text: string) {
    this.#pattern = `*${text.replace(/[\\*?[\]^]/g, "\\$&")}*`;
    this.#lanes = Array.from({ length: Number(LANES) }, (_, index) => {
      const from = (CURSORS / LANES) * BigInt(index);
      return { from, to: from + CURSORS / LANES, at: from };
    });
  }

  /** Runs to the end, or to the number of matches that fit the page. Calls `report` after each step. */
  async run(signal: AbortSignal, report: (found: Found) => void): Promise<void> {
    for (;;) {
      const open = this.#lanes.filter((lane) => lane.at < lane.to);
      if (open.length === 0 || this.#isCut || signal.aborted) return;
      await this.#step(open, signal);
      if (!signal.aborted) report(this.found());
    }
  }

  found(): Found {
    const examined = this.#lanes.reduce((sum, lane) => sum + (lane.at - lane.from), 0n);
    const streams = [...this.#streams.values()].sort((one, other) =>
      shown(one.key) < shown(other.key) ? -1 : 1,
    );
    return {
      streams: streams.slice(0, MATCHES_MAX),
      part: Number((examined * 1_000n) / CURSORS) / 1_000,
      isCut: this.#isCut,
    };
  }

  async #step(lanes: readonly Lane[], signal: AbortSignal): Promise<void> {
    const scans = lanes.map((lane) => [
      ...["SCAN", String(lane.at), "MATCH", this.#pattern],
      ...["COUNT", String(KEYS_PER_STEP)],
    ]);
    const steps = (await pipeline(scans, { signal })).map(scanned);
    const keys = steps.flatMap(([, found]) => found.map((key): Name => nameOf(key, {})));
    const unknown = keys.filter((key) => !this.#streams.has(identity(key))).slice(0, MATCHES_MAX + 1);
    const rows = await forEach(unknown, (key) => findStream(key, signal));
    for (const row of rows) if (row !== undefined) this.#streams.set(identity(row.key), row);
    lanes.forEach((lane, index) => {
      const next = BigInt(steps[index]![0]);
      lane.at = next === 0n || next > lane.to ? lane.to : next;
    });
    this.#isCut = this.#streams.size > MATCHES_MAX;
  }
}

/** Returns the next cursor and the keys. Throws an error of the server. */
function scanned(reply: Reply): [string, string[]] {
  if ("error" in reply) throw new Error(reply.error);
  return reply.result as [string, string[]];
}
