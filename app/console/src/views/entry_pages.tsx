/**
 * Pages of entries, one below the other. A page is read when the reader asks for it.
 */
import { useState } from "preact/hooks";
import { many } from "../format";
import { useLoaded } from "../hooks";
import { Pending, Problem, Waiting } from "../messages";
import type { Name } from "../names";
import { type Entry, type EntryPage, readEntries } from "../streams";
import { EntryTable } from "./entry_table";

/** Pages of entries, one below the other. */
export function Entries({
  streamKey,
  start,
  end,
}: {
  streamKey: Name;
  start: string | undefined;
  end: string | undefined;
}) {
  const first = useLoaded((signal) => readEntries(streamKey, bounds(start, end), signal), `${start} ${end}`);
  const [more, setMore] = useState<readonly EntryPage[]>([]);
  const [cursor, setCursor] = useState<string | undefined>();
  const following = useLoaded<EntryPage | undefined>(async (signal) => {
    if (cursor === undefined) return undefined;
    const page = await readEntries(streamKey, bounds(start, `(${cursor}`), signal);
    setMore((before) => [...before, page]);
    return page;
  }, `${cursor}`);
  const pages = [...(first.data ? [first.data] : []), ...more];
  const entries: Entry[] = pages.flatMap((page) => [...page.entries]);
  const next = pages[pages.length - 1]?.next ?? null;
  return (
    <>
      <Pending of={first} what="entries" />
      {first.data && entries.length === 0 && <p class="empty">There are no entries in this range.</p>}
      {entries.length > 0 && <EntryTable streamKey={streamKey} entries={entries} />}
      {following.error && <Problem error={following.error} retry={following.reload} />}
      {cursor !== undefined && following.since !== undefined && (
        <Waiting what="older entries" since={following.since} />
      )}
      {entries.length > 0 && (
        <div class="bar pages">
          <span class="quiet small">{many(entries.length, "entry", "entries")} shown</span>
          <span class="grow" />
          {next === null ? (
            <span class="quiet small">This is the oldest entry.</span>
          ) : (
            <button type="button" onClick={() => setCursor(next)}>
              Older entries
            </button>
          )}
        </div>
      )}
    </>
  );
}

function bounds(start: string | undefined, end: string | undefined) {
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}
