/**
 * The streams whose key contains a text, shown as they are found, with what was searched and a way to stop.
 *
 * `search.ts` owns the search. This module owns when it runs and what the page says about it.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { many } from "../format";
import { Problem } from "../messages";
import { failure } from "../server";
import { Table } from "./overview_table";
import { type Found, Search } from "./search";

type State = "running" | "stopped" | "ended" | "failed";

export function SearchResults({ text, parameters }: { text: string; parameters: URLSearchParams }) {
  const search = useMemo(() => new Search(text), [text]);
  const [found, setFound] = useState<Found>(() => search.found());
  const [state, setState] = useState<State>("running");
  const [error, setError] = useState<TailraceError | undefined>();
  const [run, setRun] = useState(0);
  const leaving = useRef(new AbortController());
  // Before the page is drawn, so that the button that stops it works as soon as it is shown.
  useLayoutEffect(() => {
    const controller = (leaving.current = new AbortController());
    setState("running");
    setError(undefined);
    search
      .run(controller.signal, setFound)
      .then(() => !controller.signal.aborted && setState("ended"))
      .catch((reason: unknown) => {
        if (controller.signal.aborted) return;
        controller.abort();
        setError(failure(reason));
        setState("failed");
      });
    return () => controller.abort();
  }, [search, run]);
  const stop = () => {
    leaving.current.abort();
    setState("stopped");
  };
  const again = () => setRun((before) => before + 1);
  return (
    <>
      <div class="bar" aria-live="polite">
        <span>{noteOf(found, state)}</span>
        <span class="grow" />
        {state === "running" && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
        {state === "stopped" && (
          <button type="button" onClick={again}>
            Continue
          </button>
        )}
      </div>
      {error && <Problem error={error} retry={again} />}
      {(found.streams.length > 0 || state === "ended") && (
        <Table page={{ streams: found.streams, next: undefined, note: "" }} parameters={parameters} />
      )}
    </>
  );
}

/** Returns what the search has found so far, and how much of the keys it has examined. */
function noteOf({ streams, part, isCut }: Found, state: State): string {
  const percent = `about ${Math.floor(part * 100)} % of the keys searched`;
  if (state !== "ended") {
    const after = { running: "", stopped: ", stopped", failed: ", interrupted" }[state];
    return `${many(streams.length, "match", "matches")} so far, ${percent}${after}`;
  }
  if (isCut) return `The first ${streams.length} matches; there are more, so search for a longer text`;
  return streams.length === 1
    ? "1 stream contains this text"
    : `${many(streams.length, "stream")} contain this text`;
}
