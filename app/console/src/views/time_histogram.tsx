/**
 * When the entries of a range were appended, as counts over time.
 *
 * The server divides the range into parts with almost equal counts from its index of blocks, without reading
 * entries. This module spreads each part evenly over its time, so a bar is an estimate; the sum is exact.
 */
import { useRef } from "preact/hooks";
import { type Bin, Histogram } from "../histogram";
import { useLoaded } from "../hooks";
import { type Name } from "../names";
import { go, href } from "../router";
import { type Part, splitEntries } from "../streams";
import { msOf } from "../time";
import { Problem } from "../messages";

/** The server looks into one block for each part, so more of them would take more than a few milliseconds. */
const PARTS = 60;
const BINS = 80;

interface Given {
  readonly streamKey: Name;
  readonly range: { readonly start: string | undefined; readonly end: string | undefined };
  readonly firstId: string | undefined;
  readonly lastId: string;
}

export function TimeHistogram({ streamKey, range, firstId, lastId }: Given) {
  const parts = useLoaded(
    (signal) => splitEntries(streamKey, PARTS, range, signal),
    JSON.stringify([range, lastId]),
  );
  // The last bars stay until the new ones are here, so that the keyboard keeps its place.
  const known = useRef<readonly Part[] | undefined>(undefined);
  known.current = parts.data ?? known.current;
  if (parts.error) return <Problem error={parts.error} retry={parts.reload} />;
  const bins = known.current && binsOf(known.current, msOf(firstId), msOf(lastId));
  if (known.current === undefined) return <div class="histogram" />;
  if (bins === undefined) return null;
  const brush = (from: number, to: number) =>
    go(href("stream", { key: streamKey, start: String(from), end: String(to) }));
  return <Histogram bins={bins} onBrush={brush} />;
}

/** Returns bins of equal time; undefined if the ids are no times, or all the same. */
export function binsOf(
  parts: readonly Part[],
  firstMs: number | undefined,
  lastMs: number | undefined,
): Bin[] | undefined {
  const spans = parts.map((part) => ({
    from: msOf(part.start) ?? firstMs,
    to: Math.min(msOf(part.end) ?? Infinity, lastMs ?? -1),
    count: part.count,
  }));
  const from = spans[0]?.from;
  const to = spans[spans.length - 1]?.to;
  if (from === undefined || to === undefined || lastMs === undefined || to <= from) return undefined;
  const width = (to - from) / BINS;
  const bins = Array.from({ length: BINS }, (_, index) => ({
    from: from + index * width,
    to: from + (index + 1) * width,
    count: 0,
  }));
  for (const span of spans) spread(bins, { ...span, from: Math.max(span.from ?? from, from) }, from, width);
  return bins;
}

function spread(
  bins: { count: number }[],
  span: { from: number; to: number; count: number },
  first: number,
  width: number,
): void {
  const low = (span.from - first) / width;
  // A single entry is at the beginning of its part.
  const high = span.count === 1 ? low + 1e-9 : Math.max((span.to - first) / width, low + 1e-9);
  for (let at = Math.floor(low); at < high && at < bins.length; at++) {
    const share = (Math.min(at + 1, high) - Math.max(at, low)) / (high - low);
    bins[Math.max(at, 0)]!.count += span.count * share;
  }
}
