/**
 * The groups of a stream: lag, pending entries and consumers, with lag over time.
 *
 * One request brings all groups. The tab samples them while this view is open; the server keeps no history.
 */
import { count, rate } from "../format";
import { useLoaded } from "../hooks";
import { Pending, Problem } from "../messages";
import { identity, type Name, readName, shown } from "../names";
import { Spark } from "../plots";
import { href } from "../router";
import { rateNow, samplesOf } from "../samples";
import { pipeline } from "../server";
import { findStream, type Group, listGroups, type Stream } from "../streams";
import { IdTime, NameText } from "../ui";
import { Chosen, LAG_UNKNOWN } from "./chosen_group";
import { CreateGroup } from "./group_actions";
import { EVERY_MS, behindMs, behindText, sampleGroup, subject } from "./group_samples";

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
          <table class="rows stacked">
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
                  <td class="number" data-label="Lag">
                    {group.lag === null ? <Unknown /> : count(group.lag)}
                  </td>
                  <td data-label="Lag over time">
                    <Spark
                      points={samplesOf(subject("lag", streamKey, group))}
                      label={`Lag of ${shown(group.name)}`}
                    />
                  </td>
                  <td class="number" data-label="Behind">
                    {behindText(behindMs(group, state.data?.stream))}
                  </td>
                  <td class="number" data-label="Pending">
                    <a href={href("pending", { key: streamKey, group: group.name })}>
                      {count(group.pending)}
                    </a>
                  </td>
                  <td data-label="Oldest pending">
                    <IdTime id={oldest.data?.get(identity(group.name))} isShort />
                  </td>
                  <td class="number" data-label="Deliveries">
                    {rate(rateNow(samplesOf(subject("read", streamKey, group))))}
                  </td>
                  <td class="number" data-label="Consumers">
                    {group.consumers}
                  </td>
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
    <span class="quiet" title={LAG_UNKNOWN}>
      unknown
    </span>
  );
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
