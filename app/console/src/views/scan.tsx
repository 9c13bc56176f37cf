/**
 * Entries that match a condition, found by the server step by step, newest first.
 *
 * In one step the server examines a bounded number of entries, and serves other clients meanwhile. The next step
 * begins only after the last one has ended. The search pauses after some matches or entries, and where the reader
 * stops it.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { type Name } from "../names";
import { failure } from "../server";
import { type Entry, scanEntries } from "../streams";
import { many } from "../format";
import { Problem } from "../messages";
import { IdTime } from "../ui";
import { EntryTable } from "./entry_table";

const MATCHES_PER_RUN = 100;
const ENTRIES_PER_RUN = 2_000_000;

interface Given {
  readonly streamKey: Name;
  readonly condition: string;
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

export function Scan({ streamKey, condition, range }: Given) {
  const [progress, setProgress] = useState<Progress>({ matches: [], scanned: 0, state: "running" });
  const cursor = useRef<string | undefined>(range.end);
  const [run, setRun] = useState(0);
  // Before the page is drawn, so that the button that stops it works as soon as it is shown.
  useLayoutEffect(() => {
    const leaving = new AbortController();
    setProgress(({ error: _, ...before }) => ({ ...before, state: "running" }));
    const stepping = steps(
      streamKey,
      { condition, start: range.start },
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
      {typeof error?.problem["excerpt"] === "string" && <pre>{error.problem["excerpt"]}</pre>}
      {matches.length > 0 && <EntryTable streamKey={streamKey} entries={matches} />}
      {matches.length === 0 && state === "ended" && (
        <p class="empty">
          No entry of this range matches <code>{condition}</code>.
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
  wanted: { condition: string; start: string | undefined },
  cursor: { current: string | undefined },
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  let scanned = 0;
  let matched = 0;
  for (;;) {
    const bounds = { start: wanted.start, end: cursor.current, count: MATCHES_PER_RUN - matched };
    const page = await scanEntries(key, wanted.condition, bounds, signal);
    if (signal.aborted) return;
    scanned += page.scanned;
    matched += page.entries.length;
    if (page.next !== null) cursor.current = `(${page.next}`;
    const isEnough = matched >= MATCHES_PER_RUN || scanned >= ENTRIES_PER_RUN;
    const state = page.next === null ? "ended" : isEnough ? "paused" : "running";
    report(page.entries, page.scanned, page.next ?? undefined, state);
    if (state !== "running") return;
  }
}
