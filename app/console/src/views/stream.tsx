/**
 * The entries of a stream, newest first: pages, a jump to a time or an id, a histogram, a filter, and the live tail.
 *
 * The URL has the range, so that every place in a stream can be linked.
 */
import { bytes, count } from "../format";
import { useLoaded } from "../hooks";
import { Problem } from "../messages";
import type { Name } from "../names";
import { href } from "../router";
import { conditionOf, findStream, outlineOf } from "../streams";
import { IdTime } from "../ui";
import { Entries } from "./entry_pages";
import { Scan } from "./scan";
import { Toolbar } from "./stream_toolbar";
import { Tail } from "./tail";
import { TimeHistogram } from "./time_histogram";

const STATE_EVERY_MS = 5_000;

export interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function StreamView({ streamKey, parameters }: Given) {
  const start = parameters.get("start") ?? undefined;
  const end = parameters.get("end") ?? undefined;
  const condition =
    parameters.get("filter") ?? conditionOf(parameters.get("field") ?? "", parameters.get("value") ?? "");
  const isLive = parameters.get("live") === "1";
  const state = useLoaded(
    async (signal) => {
      const stream = await findStream(streamKey, signal);
      const outline = stream === undefined ? {} : await outlineOf(streamKey, signal);
      return { stream, ...outline };
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
          {state.data?.bytes !== undefined && (
            <div>
              <dt>Size</dt>
              <dd title="The entries as compact JSON, before compression">{bytes(state.data.bytes)}</dd>
            </div>
          )}
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
        <Tail streamKey={streamKey} condition={condition} isOffline={state.error !== undefined} />
      ) : condition !== "" ? (
        <Scan
          key={parameters.toString()}
          streamKey={streamKey}
          condition={condition}
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
