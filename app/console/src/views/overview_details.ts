/**
 * What the overview shows beside the list: first ids, bytes, worst lag, oldest pending entries.
 *
 * Groups and their pending entries take one request for 20 of them. The first id and the bytes of a stream that has
 * changed take one request (HEAD), without values.
 */
import { type Name, identity, nameOf } from "../names";
import { type Reply, forEach, pipeline } from "../server";
import { type Outline, type Stream, outlineOf as readOutline } from "../streams";

export interface Details extends Outline {
  readonly worstLag?: number | undefined;
  readonly worstGroup?: Name | undefined;
  readonly oldestPendingId?: string | undefined;
  readonly oldestPendingGroup?: Name | undefined;
}

interface GroupRow {
  readonly name: Name;
  readonly pending: number;
  readonly lag: number | null;
}

const PENDING_LOOKS_MAX = 100;

/** Returns the details of streams, by the identity of their keys. */
export async function detailsOf(
  streams: readonly Stream[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Details>> {
  const grouped = streams.filter((stream) => stream.groups > 0);
  const [outlines, groups] = await Promise.all([
    forEach(streams, (stream) => outlineOf(stream, signal)),
    grouped.length === 0
      ? []
      : pipeline(
          grouped.map((stream) => ["XINFO", "GROUPS", stream.key]),
          { signal },
        ),
  ]);
  const rows = new Map(grouped.map((stream, index) => [identity(stream.key), groupRows(groups[index])]));
  const oldest = await oldestPending(grouped, rows, signal);
  return new Map(
    streams.map((stream, index) => {
      const id = identity(stream.key);
      return [id, { ...outlines[index], ...worst(rows.get(id) ?? []), ...oldest.get(id) }];
    }),
  );
}

async function outlineOf(stream: Stream, signal: AbortSignal): Promise<Outline> {
  const known = knownOutlines.get(identity(stream.key));
  if (known !== undefined && known.added === stream.added && known.length === stream.length) return known;
  const outline = await readOutline(stream.key, signal);
  knownOutlines.set(identity(stream.key), { added: stream.added, length: stream.length, ...outline });
  if (knownOutlines.size > 1_000) knownOutlines.delete(knownOutlines.keys().next().value!);
  return outline;
}

/** Outlines that were read before, with the counters of the stream at that time. */
const knownOutlines = new Map<string, Outline & { added: number; length: number }>();

function groupRows(reply: Reply | undefined): GroupRow[] {
  if (reply === undefined || !("result" in reply) || !Array.isArray(reply.result)) return [];
  return reply.result.map((flat: unknown[]) => {
    const row = Object.fromEntries(
      flat.flatMap((word, index) => (index % 2 === 0 ? [[String(word), flat[index + 1]]] : [])),
    ) as Record<string, unknown>;
    return {
      name: nameOf(String(row["name"]), {}),
      pending: Number(row["pending"]),
      lag: row["lag"] === null ? null : Number(row["lag"]),
    };
  });
}

function worst(rows: readonly GroupRow[]): Pick<Details, "worstLag" | "worstGroup"> {
  const known = rows.filter((row) => row.lag !== null).sort((one, other) => other.lag! - one.lag!);
  return known[0] === undefined ? {} : { worstLag: known[0].lag!, worstGroup: known[0].name };
}

async function oldestPending(
  streams: readonly Stream[],
  rows: ReadonlyMap<string, readonly GroupRow[]>,
  signal: AbortSignal,
): Promise<Map<string, Details>> {
  const looks = streams
    .flatMap((stream) => (rows.get(identity(stream.key)) ?? []).map((group) => ({ stream, group })))
    .filter(({ group }) => group.pending > 0)
    .slice(0, PENDING_LOOKS_MAX);
  if (looks.length === 0) return new Map();
  const commands = looks.map(({ stream, group }) => ["XPENDING", stream.key, group.name, "-", "+", "1"]);
  const replies = await pipeline(commands, { signal });
  const found = new Map<string, Details>();
  replies.forEach((reply, index) => {
    if (!("result" in reply)) return;
    const id = (reply.result as string[][])[0]?.[0];
    const { stream, group } = looks[index]!;
    const before = found.get(identity(stream.key))?.oldestPendingId;
    if (id !== undefined && (before === undefined || isBefore(id, before))) {
      found.set(identity(stream.key), { oldestPendingId: id, oldestPendingGroup: group.name });
    }
  });
  return found;
}

/** Returns whether an id is smaller than another. Ids are larger than numbers can be. */
export function isBefore(one: string, other: string): boolean {
  const [oneMs, oneSeq] = one.split("-").map((part) => BigInt(part || "0"));
  const [otherMs, otherSeq] = other.split("-").map((part) => BigInt(part || "0"));
  return oneMs! < otherMs! || (oneMs === otherMs && (oneSeq ?? 0n) < (otherSeq ?? 0n));
}
