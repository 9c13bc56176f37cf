/**
 * Search for streams whose key contains a text: SCAN, a bounded number of keys at each step.
 *
 * A step examines at most 1 000 keys, so other clients of the server wait for a few milliseconds at most. The
 * search ends at a number of steps or of matches.
 */
import { type Name, nameOf, shown } from "../names";
import { send } from "../server";
import { type Stream, type StreamPage, findStream } from "../streams";

const KEYS_PER_STEP = 1_000;
const STEPS_MAX = 200;
const MATCHES_MAX = 100;

export async function search(text: string, signal: AbortSignal): Promise<StreamPage & { note: string }> {
  const pattern = `*${text.replace(/[\\*?[\]^]/g, "\\$&")}*`;
  const keys: Name[] = [];
  let cursor = "0";
  let steps = 0;
  do {
    const command = ["SCAN", cursor, "MATCH", pattern, "COUNT", KEYS_PER_STEP];
    const reply = await send<{ result: [string, string[]] }>("POST", "/v1/command", {
      body: command,
      signal,
    });
    cursor = reply.result[0];
    keys.push(...reply.result[1].map((key) => nameOf(key, {})));
  } while (cursor !== "0" && ++steps < STEPS_MAX && keys.length < MATCHES_MAX);
  const streams = await rowsOf(keys.slice(0, MATCHES_MAX), signal);
  const end = cursor === "0" && keys.length <= MATCHES_MAX;
  const note = end
    ? streams.length === 1
      ? "1 stream contains this text"
      : `${streams.length} streams contain this text`
    : `The first ${streams.length} matches; there may be more, so search for a longer text`;
  return { streams, next: undefined, note };
}

/** Returns the rows of the matches: one small request for each, and at most a hundred. */
async function rowsOf(keys: readonly Name[], signal: AbortSignal): Promise<Stream[]> {
  const rows = await Promise.all(keys.map((key) => findStream(key, signal)));
  return rows
    .filter((row) => row !== undefined)
    .sort((one, other) => (shown(one.key) < shown(other.key) ? -1 : 1));
}
