/**
 * Entries in which a field has a value, found page by page, newest first.
 *
 * A step reads at most 1 000 entries or 8 MB, and the next one begins only after the last one has ended; other
 * clients of the server wait for a few milliseconds at most. The search pauses after some matches or entries.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { type Name } from "../names";
import { failure } from "../server";
import { type Entry, readEntries } from "../streams";
import { many } from "../format";
import { Problem } from "../messages";
import { IdTime } from "../ui";
import { EntryTable } from "./entry_table";

const ENTRIES_PER_STEP = 1_000;
const MATCHES_PER_RUN = 100;
const ENTRIES_PER_RUN = 200_000;

interface Given {
  readonly streamKey: Name;
  readonly field: string;
  readonly value: string;
  readonly range: { readonly start: string | undefined; readonly end: string | undefined };
}

interface Progress {
  readonly matches: readonly Entry[];
  readonly scanned: number;
  /** The oldest entry that was read. */
  readonly oldest?: string | undefined;
  readonly state: "running" | "paused" | "ended" | "failed";
  readonly error?: TailraceError;
}

export function Scan({ streamKey, field, value, range }: Given) {
  const [progress, setProgress] = useState<Progress>({ matches: [], scanned: 0, state: "running" });
  const cursor = useRef<string | undefined>(range.end);
  const [run, setRun] = useState(0);
  // Before the page is drawn, so that the button that stops it works as soon as it is shown.
  useLayoutEffect(() => {
    const leaving = new AbortController();
    setProgress(({ error: _, ...before }) => ({ ...before, state: "running" }));
    const stepping = steps(
      streamKey,
      { field, value, start: range.start },
      cursor,
      leaving.signal,
      (found, scanned, oldest, state) =>
        setProgress((before) => ({
          oldest: oldest ?? before.oldest,
          matches: [...before.matches, ...found],
          scanned: before.scanned + scanned,
          state,
        })),
    );
    stepping.catch((error: unknown) => {
      if (!leaving.signal.aborted)
        setProgress((before) => ({ ...before, state: "failed", error: failure(error) }));
    });
    stop.current = () => {
      leaving.abort();
      setProgress((before) => ({ ...before, state: "paused" }));
    };
    return () => leaving.abort();
  }, [run]);
  const stop = useRef<() => void>(() => undefined);
  const { matches, scanned, oldest, state, error } = progress;
  const again = () => setRun((before) => before + 1);
  return (
    <>
      <div class="bar" aria-live="polite">
        <span>
          <strong>{many(matches.length, "match", "matches")}</strong>{" "}
          <span class="quiet">
            in {many(scanned, "entry", "entries")} read, newest first
            {state === "ended" && "; the whole range was searched"}
            {state === "paused" && "; older entries were not searched yet"}
            {state === "failed" && "; the search was interrupted"}
            {state !== "ended" && oldest !== undefined && (
              <>
                {" · reached "}
                <IdTime id={oldest} />
              </>
            )}
          </span>
        </span>
        <span class="grow" />
        {state === "running" && (
          <button type="button" onClick={() => stop.current()}>
            Stop
          </button>
        )}
        {state === "paused" && (
          <button type="button" onClick={again}>
            Search older entries
          </button>
        )}
      </div>
      {error && <Problem error={error} retry={again} />}
      {matches.length > 0 && <EntryTable streamKey={streamKey} entries={matches} />}
      {matches.length === 0 && state === "ended" && (
        <p class="empty">
          No entry of this range has {field} = {value}.
        </p>
      )}
    </>
  );
}

type Report = (
  found: readonly Entry[],
  scanned: number,
  oldest: string | undefined,
  state: "running" | "paused" | "ended",
) => void;

async function steps(
  key: Name,
  wanted: { field: string; value: string; start: string | undefined },
  cursor: { current: string | undefined },
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  let scanned = 0;
  let matched = 0;
  for (;;) {
    const bounds = {
      ...(wanted.start === undefined ? {} : { start: wanted.start }),
      ...(cursor.current === undefined ? {} : { end: cursor.current }),
    };
    const page = await readEntries(key, { ...bounds, count: ENTRIES_PER_STEP }, signal);
    if (signal.aborted) return;
    const found = page.entries.filter((entry) => has(entry, wanted.field, wanted.value));
    scanned += page.entries.length;
    matched += found.length;
    if (page.next !== null) cursor.current = `(${page.next}`;
    const isEnough = matched >= MATCHES_PER_RUN || scanned >= ENTRIES_PER_RUN;
    const oldest = page.entries[page.entries.length - 1]?.id;
    report(
      found,
      page.entries.length,
      oldest,
      page.next === null ? "ended" : isEnough ? "paused" : "running",
    );
    if (page.next === null || isEnough) return;
  }
}

function has(entry: Entry, field: string, value: string): boolean {
  return entry.pairs.some(([name, each]) => name === field && each === value);
}
