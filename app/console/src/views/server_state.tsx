/**
 * What only an administrator sees of the server: the largest streams, slow operations, the audit log, all limits.
 *
 * One request brings all of them. A token without the right sees why they are missing, and the limits.
 */
import type { api } from "tailrace-client/index";
import { useRefusal, useRightsAreKnown } from "../access";
import { bytes, count, many } from "../format";
import { type Loaded, useLoaded } from "../hooks";
import { Pending } from "../messages";
import { nameOf } from "../names";
import { href } from "../router";
import { send } from "../server";
import { NameText, Time } from "../ui";
import { Limits, LimitsAlone } from "./server_limits";

const LISTED = 20;
const EVERY_MS = 5_000;

type State = api.ServerState;

/** Loads the state of the server; undefined while the token may not see it. */
export function useServerState(): {
  readonly state: Loaded<State | undefined>;
  readonly why: string | undefined;
} {
  const why = useRefusal()("admin");
  const isAllowed = useRightsAreKnown() && why === undefined;
  const state = useLoaded<State | undefined>(
    async (signal) =>
      isAllowed ? send<State>("GET", "/v1/server", { query: { limit: LISTED }, signal }) : undefined,
    `state ${isAllowed}`,
    EVERY_MS,
  );
  return { state, why };
}

export function Details({ state, why }: ReturnType<typeof useServerState>) {
  if (why !== undefined) {
    return (
      <>
        <p class="why">The largest streams, slow operations and audit lines are off: {why}</p>
        <LimitsAlone />
      </>
    );
  }
  return (
    <>
      <Pending of={state} what="the state of the server" />
      {state.data && (
        <>
          {state.data.store !== "engine" && <Largest streams={state.data.largest_streams} />}
          <SlowLog log={state.data.slow_log} />
          <Audit page={state.data.audit} />
          <Limits limits={state.data.limits} />
        </>
      )}
    </>
  );
}

function Largest({ streams }: { streams: State["largest_streams"] }) {
  const most = Math.max(1, ...streams.map((stream) => stream.bytes));
  return (
    <section>
      <h2>Largest streams</h2>
      {streams.length === 0 && <p class="quiet">There are no streams yet.</p>}
      {streams.length > 0 && (
        <div class="scroll" role="region" aria-label="Largest streams" tabIndex={0}>
          <table class="rows stacked">
            <thead>
              <tr>
                <th scope="col">Stream</th>
                <th scope="col" class="number" title="The entries as compact JSON, before compression">
                  Size
                </th>
                <th scope="col" class="share wide-only">
                  <span class="hidden">Compared with the largest</span>
                </th>
                <th scope="col" class="number">
                  Entries
                </th>
                <th scope="col" class="number">
                  Per entry
                </th>
              </tr>
            </thead>
            <tbody>
              {streams.map((stream) => (
                <tr key={stream.key + (stream.encoding ?? "")}>
                  <th scope="row">
                    <a href={href("stream", { key: nameOf(stream.key, stream) })}>
                      <NameText name={nameOf(stream.key, stream)} />
                    </a>
                  </th>
                  <td class="number" data-label="Size, about">
                    {bytes(stream.bytes)}
                  </td>
                  <td class="share wide-only">
                    <meter aria-hidden="true" min={0} max={most} value={stream.bytes} />
                  </td>
                  <td class="number" data-label="Entries">
                    {count(stream.length)}
                  </td>
                  <td class="number" data-label="Per entry">
                    {stream.length === 0 ? "–" : bytes(Math.round(stream.bytes / stream.length))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function SlowLog({ log }: { log: State["slow_log"] }) {
  return (
    <section>
      <h2>Slow operations</h2>
      {log.operations.length === 0 && (
        <p class="quiet">
          {log.threshold_ms < 0
            ? "The server records none: it was started with --slow-log-ms -1."
            : `No operation took longer than ${log.threshold_ms} ms.`}
        </p>
      )}
      {log.operations.length > 0 && (
        <div class="scroll" role="region" aria-label="Slow operations" tabIndex={0}>
          <table class="rows stacked">
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col">Time</th>
                <th scope="col">Streams</th>
                <th scope="col" class="number">
                  Engine
                </th>
                <th scope="col" class="number">
                  Disk
                </th>
                <th scope="col" class="number">
                  Other
                </th>
              </tr>
            </thead>
            <tbody>
              {log.operations.map((each) => (
                <tr key={each.id} title={each.request_id === null ? undefined : `Request ${each.request_id}`}>
                  <th scope="row" class="mono">
                    {each.operation}
                  </th>
                  <td data-label="Time">
                    <Time ms={each.at_ms} isShort />
                  </td>
                  <td data-label="Streams">
                    <Names names={each.commands.flatMap((command) => command.keys ?? [])} />
                  </td>
                  <td class="number" data-label="Engine">
                    {each.engine_ms.toFixed(1)} ms
                  </td>
                  <td class="number" data-label="Disk">
                    {each.commit_ms.toFixed(1)} ms
                  </td>
                  <td class="number" data-label="Other">
                    {each.other_ms.toFixed(1)} ms
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Audit({ page }: { page: State["audit"] }) {
  return (
    <section>
      <h2>Audit log</h2>
      {page.acts.length === 0 && (
        <p class="quiet">Nobody has created, changed or deleted a stream or a group since the start.</p>
      )}
      {page.acts.length > 0 && (
        <div class="scroll" role="region" aria-label="Audit log" tabIndex={0}>
          <table class="rows stacked">
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col">Time</th>
                <th scope="col">Token</th>
                <th scope="col">Streams</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {page.acts.map((act, index) => (
                <tr
                  key={`${act.at_ms} ${act.request_id} ${index}`}
                  title={act.request_id === null ? undefined : `Request ${act.request_id}`}
                >
                  <th scope="row" class="mono">
                    {act.operation}
                  </th>
                  <td data-label="Time">
                    <Time ms={act.at_ms} isShort />
                  </td>
                  <td data-label="Token">
                    <bdi>{act.token}</bdi>
                  </td>
                  <td data-label="Streams">
                    <Names names={act.keys} total={act.keys_count} />
                  </td>
                  <td data-label="Outcome">
                    {act.outcome === "done" ? "done" : <strong class="bad">{act.outcome}</strong>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="quiet small">
        The last {many(page.capacity, "line")} at most. The log of the process has all of them.
      </p>
    </section>
  );
}

const NAMES_SHOWN = 3;

/** A few names of streams, as the logs have them. */
function Names({ names, total = names.length }: { names: readonly string[]; total?: number }) {
  if (names.length === 0) return <span class="quiet">–</span>;
  return (
    <>
      {names.slice(0, NAMES_SHOWN).map((name, index) => (
        <bdi key={index} class="name">
          {index > 0 && ", "}
          {name}
        </bdi>
      ))}
      {total > NAMES_SHOWN && <span class="quiet"> and {count(total - NAMES_SHOWN)} more</span>}
    </>
  );
}
