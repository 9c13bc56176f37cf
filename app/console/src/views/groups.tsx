/**
 * The groups of a stream: lag, pending entries and consumers, with lag over time.
 *
 * One request brings all groups. The tab samples them while this view is open; the server keeps no history.
 */
import { useState } from "preact/hooks";
import { useLoaded } from "../hooks";
import { type Name, identity, nameOf, readName, shown } from "../names";
import { Line, Spark } from "../plots";
import { href } from "../router";
import { rateNow, sample, samplesOf } from "../samples";
import { pipeline, send } from "../server";
import { type Group, type Stream, findStream, groupPath, listGroups } from "../streams";
import { msOf } from "../time";
import { IdTime, NameText, Pending, Problem, count, duration, rate } from "../ui";
import { CreateGroup, GroupActions } from "./group_actions";

const EVERY_MS = 2_000;
const PENDING_EVERY_MS = 5_000;
const PENDING_LOOKS_MAX = 100;

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

interface State {
  readonly groups: readonly Group[];
  readonly stream: Stream | undefined;
}

export function GroupsView({ streamKey, parameters }: Given) {
  const state = useLoaded<State>(
    async (signal) => {
      const [groups, stream] = await Promise.all([
        listGroups(streamKey, signal),
        findStream(streamKey, signal),
      ]);
      for (const group of groups) sampleGroup(streamKey, group, stream);
      return { groups, stream };
    },
    "groups",
    EVERY_MS,
  );
  const groups = state.data?.groups ?? [];
  const oldest = useLoaded(
    (signal) => oldestOf(streamKey, groups, signal),
    JSON.stringify(groups.filter((group) => group.pending > 0).map((group) => group.name)),
    PENDING_EVERY_MS,
  );
  const wanted = readName(parameters, "group");
  const chosen =
    groups.find((group) => wanted !== undefined && identity(group.name) === identity(wanted)) ?? groups[0];
  return (
    <>
      <Pending of={state} what="the groups" />
      {state.data && (
        <CreateGroup streamKey={streamKey} isFirst={groups.length === 0} onDone={state.reload} />
      )}
      {oldest.error && <Problem error={oldest.error} retry={oldest.reload} />}
      {chosen && (
        <div class="scroll" role="region" aria-label="Groups" tabIndex={0}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Group</th>
                <th scope="col" class="number">
                  Lag
                </th>
                <th scope="col">Lag over time</th>
                <th scope="col" class="number">
                  Behind
                </th>
                <th scope="col" class="number">
                  Pending
                </th>
                <th scope="col">Oldest pending</th>
                <th scope="col" class="number">
                  Deliveries
                </th>
                <th scope="col" class="number">
                  Consumers
                </th>
              </tr>
            </thead>
            <tbody>
              {groups.map((group) => (
                <tr key={identity(group.name)} class={group === chosen ? "chosen" : undefined}>
                  <th scope="row">
                    <a
                      href={href("groups", { key: streamKey, group: group.name })}
                      aria-current={group === chosen ? "true" : undefined}
                    >
                      <NameText name={group.name} />
                    </a>
                  </th>
                  <td class="number">{group.lag === null ? <Unknown /> : count(group.lag)}</td>
                  <td>
                    <Spark
                      points={samplesOf(subject("lag", streamKey, group))}
                      label={`Lag of ${shown(group.name)}`}
                    />
                  </td>
                  <td class="number">{behindText(behindMs(group, state.data?.stream))}</td>
                  <td class="number">
                    <a href={href("pending", { key: streamKey, group: group.name })}>
                      {count(group.pending)}
                    </a>
                  </td>
                  <td>
                    <IdTime id={oldest.data?.get(identity(group.name))} isShort />
                  </td>
                  <td class="number">{rate(rateNow(samplesOf(subject("read", streamKey, group))))}</td>
                  <td class="number">{group.consumers}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {chosen && (
        <Chosen
          key={identity(chosen.name)}
          streamKey={streamKey}
          group={chosen}
          stream={state.data?.stream}
          onDone={state.reload}
        />
      )}
    </>
  );
}

function Unknown() {
  return (
    <span
      class="quiet"
      title="The server cannot know the lag: entries in the middle of the stream were deleted."
    >
      unknown
    </span>
  );
}

function subject(what: string, key: Name, group: Group): string {
  return `${what} ${identity(key)} ${identity(group.name)}`;
}

function sampleGroup(key: Name, group: Group, stream: Stream | undefined): void {
  if (group.lag !== null) sample(subject("lag", key, group), group.lag);
  if (group.read !== null) sample(subject("read", key, group), group.read);
  sample(subject("pending", key, group), group.pending);
  const behind = behindMs(group, stream);
  if (behind !== undefined) sample(subject("behind", key, group), behind / 1000);
}

/** How far the group's position is behind the newest entry, by the times of their ids. */
function behindMs(group: Group, stream: Stream | undefined): number | undefined {
  if (group.lag === 0) return 0;
  const last = msOf(stream?.lastId);
  const position = msOf(group.lastDeliveredId);
  return last === undefined || position === undefined ? undefined : Math.max(0, last - position);
}

function behindText(ms: number | undefined): string {
  return ms === undefined ? "–" : ms === 0 ? "0 s" : duration(ms);
}

async function oldestOf(
  key: Name,
  groups: readonly Group[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const looked = groups.filter((group) => group.pending > 0).slice(0, PENDING_LOOKS_MAX);
  if (looked.length === 0) return new Map();
  const replies = await pipeline(
    looked.map((group) => ["XPENDING", key, group.name, "-", "+", "1"]),
    { signal },
  );
  return new Map(
    replies.flatMap((reply, index) => {
      const id = "result" in reply ? (reply.result as string[][])[0]?.[0] : undefined;
      return id === undefined ? [] : [[identity(looked[index]!.name), id] as const];
    }),
  );
}

interface Consumer {
  readonly name: Name;
  readonly pending: number;
  readonly idleMs: number;
  readonly inactiveMs: number | null;
}

interface ConsumerRow {
  readonly name: string;
  readonly encoding?: "base64";
  readonly pending: number;
  readonly idle_ms: number;
  readonly inactive_ms: number | null;
}

async function consumersOf(key: Name, group: Name, signal: AbortSignal): Promise<Consumer[]> {
  const path = groupPath(key, group, "/consumers");
  const { consumers } = await send<{ consumers: ConsumerRow[] }>("GET", path, { signal });
  return consumers.map((row) => ({
    name: nameOf(row.name, row),
    pending: row.pending,
    idleMs: row.idle_ms,
    inactiveMs: row.inactive_ms,
  }));
}

const CONSUMERS_SHOWN = 200;

function Chosen({
  streamKey,
  group,
  stream,
  onDone,
}: {
  streamKey: Name;
  group: Group;
  stream: Stream | undefined;
  onDone(): void;
}) {
  const consumers = useLoaded((signal) => consumersOf(streamKey, group.name, signal), "consumers", EVERY_MS);
  const [isAll, setAll] = useState(false);
  const rows = consumers.data ?? [];
  return (
    <section aria-label={`Group ${shown(group.name)}`}>
      <div class="subject">
        <h2>
          <NameText name={group.name} />
        </h2>
        <span class="quiet small">
          position <span class="mono">{group.lastDeliveredId}</span> · <IdTime id={group.lastDeliveredId} />
        </span>
      </div>
      <GroupActions streamKey={streamKey} group={group} stream={stream} onDone={onDone} />
      <div class="plots">
        <Line title="Lag" unit="entries" points={samplesOf(subject("lag", streamKey, group))} />
        <Line
          title="Behind the newest entry"
          unit="seconds"
          points={samplesOf(subject("behind", streamKey, group))}
          format={(value) => (value < 10 ? value.toFixed(1) : count(Math.round(value)))}
        />
        <Line title="Pending" unit="entries" points={samplesOf(subject("pending", streamKey, group))} />
      </div>
      <h3>Consumers</h3>
      <Pending of={consumers} what="the consumers" />
      {consumers.data && rows.length === 0 && (
        <p class="empty">
          No consumer has read yet.{" "}
          <a href={href("consume", { key: streamKey, group: group.name })}>Try it in the page</a>.
        </p>
      )}
      {rows.length > 0 && (
        <div class="scroll" role="region" aria-label="Consumers" tabIndex={0}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Consumer</th>
                <th scope="col" class="number">
                  Pending
                </th>
                <th scope="col" class="number">
                  Idle
                </th>
                <th scope="col" class="number">
                  Without an entry
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, isAll ? undefined : CONSUMERS_SHOWN).map((consumer) => (
                <tr key={identity(consumer.name)}>
                  <th scope="row">
                    <a href={href("pending", { key: streamKey, group: group.name, consumer: consumer.name })}>
                      <NameText name={consumer.name} />
                    </a>
                  </th>
                  <td class="number">{count(consumer.pending)}</td>
                  <td class="number">{duration(consumer.idleMs)}</td>
                  <td class="number">
                    {consumer.inactiveMs === null ? "never had one" : duration(consumer.inactiveMs)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > CONSUMERS_SHOWN && !isAll && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length} consumers
        </button>
      )}
    </section>
  );
}
