/**
 * The entries of a stream, newest first: pages, a jump to a time or an id, a histogram, a filter, and the live tail.
 *
 * The URL has the range, so that every place in a stream can be linked.
 */
import { useState } from "preact/hooks";
import { useLoaded } from "../hooks";
import { type Name } from "../names";
import { go, href } from "../router";
import { type Entry, type EntryPage, findStream, firstIdOf, readEntries } from "../streams";
import { readTime, useZone, written } from "../time";
import { IdTime, Pending, Problem, Waiting, count, many } from "../ui";
import { EntryTable } from "./entry_table";
import { Scan } from "./scan";
import { Tail } from "./tail";
import { TimeHistogram } from "./time_histogram";

const STATE_EVERY_MS = 5_000;

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function StreamView({ streamKey, parameters }: Given) {
  const start = parameters.get("start") ?? undefined;
  const end = parameters.get("end") ?? undefined;
  const field = parameters.get("field") ?? "";
  const isLive = parameters.get("live") === "1";
  const state = useLoaded(
    async (signal) => {
      const stream = await findStream(streamKey, signal);
      const firstId = stream === undefined ? undefined : await firstIdOf(streamKey, signal);
      return { stream, firstId };
    },
    "state",
    STATE_EVERY_MS,
  );
  if (state.data !== undefined && state.data.stream === undefined) return <Missing streamKey={streamKey} />;
  const stream = state.data?.stream;
  return (
    <>
      {state.error && <Problem error={state.error} retry={state.reload} />}
      {stream && (
        <dl class="facts">
          <div>
            <dt>Entries</dt>
            <dd>{count(stream.length)}</dd>
          </div>
          <div>
            <dt>Ever added</dt>
            <dd>{count(stream.added)}</dd>
          </div>
          <div>
            <dt>First entry</dt>
            <dd>
              <IdTime id={state.data?.firstId} />
            </dd>
          </div>
          <div>
            <dt>Last entry</dt>
            <dd>
              <IdTime id={stream.length === 0 ? null : stream.lastId} />
            </dd>
          </div>
          <div>
            <dt>Groups</dt>
            <dd>
              <a href={href("groups", { key: streamKey })}>{stream.groups}</a>
            </dd>
          </div>
        </dl>
      )}
      {stream && stream.length > 1 && !isLive && (
        <TimeHistogram
          streamKey={streamKey}
          range={{ start, end }}
          firstId={state.data?.firstId}
          lastId={stream.lastId}
        />
      )}
      <Toolbar streamKey={streamKey} parameters={parameters} />
      {isLive ? (
        <Tail streamKey={streamKey} field={field} value={parameters.get("value") ?? ""} />
      ) : field !== "" ? (
        <Scan
          key={parameters.toString()}
          streamKey={streamKey}
          field={field}
          value={parameters.get("value") ?? ""}
          range={{ start, end }}
        />
      ) : (
        <Entries key={`${start} ${end}`} streamKey={streamKey} start={start} end={end} />
      )}
    </>
  );
}

function Missing({ streamKey }: { streamKey: Name }) {
  return (
    <p class="empty">
      This stream does not exist, or it was deleted.{" "}
      <a href={href("produce", { key: streamKey })}>Append an entry</a> to create it.
    </p>
  );
}

/** The forms above the entries. Each changes the URL. */
function Toolbar({ streamKey, parameters }: Given) {
  const [zone] = useZone();
  const [place, setPlace] = useState("");
  const [error, setError] = useState("");
  const [field, setField] = useState(parameters.get("field") ?? "");
  const [value, setValue] = useState(parameters.get("value") ?? "");
  const isLive = parameters.get("live") === "1";
  const isAll = !["start", "end", "field", "live"].some((name) => parameters.has(name));
  const range = { start: parameters.get("start") ?? undefined, end: parameters.get("end") ?? undefined };
  const jump = () => {
    const ms = readTime(place, zone);
    const end = ms === undefined ? place.trim() : String(ms);
    if (!/^\d+(-\d+)?$/.test(end)) {
      setError(
        `'${place}' is neither a time such as ${written(Date.now(), zone, false)} nor an id such as 1692632086370-0`,
      );
      return;
    }
    setError("");
    go(href("stream", { key: streamKey, end }));
  };
  return (
    <>
      <div class="toolbar">
        <form
          class="bar"
          onSubmit={(event) => {
            event.preventDefault();
            jump();
          }}
        >
          <input
            class="mono"
            aria-label={`Jump to a time (${zone === "utc" ? "UTC" : "local"}) or an id`}
            placeholder="Time or id"
            value={place}
            onInput={(event) => setPlace(event.currentTarget.value)}
          />
          <button type="submit">Jump</button>
        </form>
        <form
          class="bar"
          onSubmit={(event) => {
            event.preventDefault();
            go(href("stream", { key: streamKey, ...range, field, value, live: isLive ? "1" : undefined }));
          }}
        >
          <input
            class="short"
            aria-label="Name of the field to filter by"
            placeholder="Field"
            value={field}
            onInput={(event) => setField(event.currentTarget.value)}
          />
          <span aria-hidden="true">=</span>
          <input
            class="short"
            aria-label="Value of the field"
            placeholder="Value"
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
          <button type="submit">Filter</button>
        </form>
        <span class="grow" />
        {!isAll && (
          <a class="button" href={href("stream", { key: streamKey })}>
            Newest entries
          </a>
        )}
        {!isLive && (
          <a class="button main" href={href("stream", { key: streamKey, field, value, live: "1" })}>
            Follow live
          </a>
        )}
      </div>
      {error !== "" && (
        <p class="why" role="alert">
          {error}
        </p>
      )}
      {(range.start !== undefined || range.end !== undefined) && !isLive && <RangeNote range={range} />}
    </>
  );
}

function RangeNote({ range }: { range: { start: string | undefined; end: string | undefined } }) {
  return (
    <p class="quiet small">
      {range.start === undefined ? (
        "Entries"
      ) : (
        <>
          Entries from <IdTime id={range.start} /> ({range.start})
        </>
      )}
      {range.end !== undefined && (
        <>
          {" "}
          up to <IdTime id={range.end} /> ({range.end})
        </>
      )}
      , newest first
    </p>
  );
}

/** Pages of entries, one below the other. */
function Entries({
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
