/**
 * The pending entries of a group: filter, select, and act on them.
 *
 * The list is read page by page. Each action names the number of entries before and after it ran.
 */
import { useState } from "preact/hooks";
import { many } from "../format";
import { useLoaded } from "../hooks";
import { Pending, Problem, Waiting } from "../messages";
import { identity, type Name, nameOf, readName, segment, shown } from "../names";
import { href } from "../router";
import { send } from "../server";
import { groupPath, listGroups } from "../streams";
import { duration } from "../time";
import { IdTime, Time } from "../ui";
import { DeadLetters } from "./dead_letters";
import { OwnDeadLetters } from "./own_dead_letters";
import { PendingActions } from "./pending_actions";
import { Filter } from "./pending_filter";

const PAGE = 100;

export interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export interface PendingEntry {
  readonly id: string;
  readonly consumer: Name | null;
  readonly idleMs: number | null;
  readonly deliveries: number;
  /** Nobody can claim the entry before this time; undefined unless it was returned with a delay. */
  readonly claimableAtMs: number | undefined;
}

interface PendingPage {
  readonly entries: readonly PendingEntry[];
  readonly next: string | null;
}

interface Row {
  readonly id: string;
  readonly consumer: string | null;
  readonly encoding?: "base64";
  readonly idle_ms: number | null;
  readonly deliveries: number;
  readonly claimable_at_ms?: number | null;
}

export function PendingView({ streamKey, parameters }: Given) {
  const groups = useLoaded((signal) => listGroups(streamKey, signal), "groups");
  const chosen = readName(parameters, "group") ?? groups.data?.[0]?.name;
  const own = groups.data?.find(
    (group) => chosen !== undefined && identity(group.name) === identity(chosen),
  )?.deadLetterStream;
  if (groups.data?.length === 0) {
    return (
      <p class="empty">
        This stream has no groups, so nothing is pending.{" "}
        <a href={href("groups", { key: streamKey })}>Create a group</a>.
      </p>
    );
  }
  return (
    <>
      <Pending of={groups} what="the groups" />
      {groups.data && chosen !== undefined && (
        <>
          <Filter
            streamKey={streamKey}
            groups={groups.data.map((group) => group.name)}
            group={chosen}
            parameters={parameters}
          />
          <List
            key={parameters.toString() + segment(chosen)}
            streamKey={streamKey}
            group={chosen}
            own={own}
            parameters={parameters}
          />
          {own === undefined ? (
            <DeadLetters streamKey={streamKey} />
          ) : (
            <OwnDeadLetters key={identity(own)} streamKey={streamKey} group={chosen} own={own} />
          )}
        </>
      )}
    </>
  );
}

function List({ streamKey, group, own, parameters }: Given & { group: Name; own: Name | undefined }) {
  const [count, setCount] = useState(PAGE);
  const pages = useLoaded((signal) => pendingOf(streamKey, group, parameters, count, signal), String(count));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const least = Number(parameters.get("deliveries") ?? 0) || 0;
  const entries = (pages.data?.entries ?? []).filter((entry) => entry.deliveries >= least);
  const chosen = entries.filter((entry) => selected.has(entry.id));
  const isAll = entries.length > 0 && chosen.length === entries.length;
  const toggle = (id: string) =>
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const done = () => {
    setSelected(new Set());
    pages.reload();
  };
  return (
    <>
      {pages.error && <Problem error={pages.error} retry={pages.reload} />}
      {pages.data === undefined && !pages.error && (
        <Waiting what="pending entries" since={pages.since ?? Date.now()} />
      )}
      {pages.data && (
        <PendingActions streamKey={streamKey} group={group} own={own} chosen={chosen} onDone={done} />
      )}
      {pages.data && entries.length === 0 && (
        <p class="empty">
          {parameters.has("consumer") || parameters.has("idle") || least > 0
            ? "No pending entry matches the filter."
            : "Nothing is pending: every delivered entry was acknowledged."}
        </p>
      )}
      {entries.length > 0 && (
        <div class="scroll" role="region" aria-label="Pending entries" tabIndex={0}>
          <table class="rows stacked">
            <thead>
              <tr>
                <th scope="col" class="tick">
                  <input
                    type="checkbox"
                    aria-label="Select all shown entries"
                    checked={isAll}
                    onChange={() => setSelected(new Set(isAll ? [] : entries.map((entry) => entry.id)))}
                  />
                </th>
                <th scope="col">Id</th>
                <th scope="col" class="wide-only">
                  Appended
                </th>
                <th scope="col">Consumer</th>
                <th scope="col" class="number">
                  Idle
                </th>
                <th scope="col" class="number">
                  Deliveries
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.id} class={selected.has(entry.id) ? "chosen" : undefined}>
                  <td class="tick">
                    <input
                      type="checkbox"
                      aria-label={`Select ${entry.id}`}
                      checked={selected.has(entry.id)}
                      onChange={() => toggle(entry.id)}
                    />
                  </td>
                  <th scope="row" class="mono">
                    <a href={href("entry", { key: streamKey, id: entry.id })}>{entry.id}</a>
                  </th>
                  <td class="wide-only" data-label="Appended">
                    <IdTime id={entry.id} isShort />
                  </td>
                  <td data-label="Consumer">
                    {entry.consumer === null ? (
                      <span class="quiet">
                        nobody (returned)
                        {entry.claimableAtMs !== undefined && (
                          <>
                            , again <Time ms={entry.claimableAtMs} isShort />
                          </>
                        )}
                      </span>
                    ) : (
                      <bdi>{shown(entry.consumer)}</bdi>
                    )}
                  </td>
                  <td class="number" data-label="Idle">
                    {entry.idleMs === null ? "–" : duration(entry.idleMs)}
                  </td>
                  <td class="number" data-label="Deliveries">
                    {entry.deliveries}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pages.data && (
        <div class="bar pages">
          <span class="quiet small">
            {many(entries.length, "pending entry", "pending entries")} shown, oldest first
          </span>
          <span class="grow" />
          {pages.data.next !== null && (
            <button type="button" onClick={() => setCount(count + PAGE)}>
              More entries
            </button>
          )}
        </div>
      )}
    </>
  );
}

async function pendingOf(
  key: Name,
  group: Name,
  parameters: URLSearchParams,
  count: number,
  signal: AbortSignal,
): Promise<PendingPage> {
  const idleMs = Math.round(Number(parameters.get("idle") ?? 0) * 1000) || 0;
  const consumer = readName(parameters, "consumer");
  const query = [
    `count=${count}`,
    `min_idle_ms=${idleMs}`,
    ...(consumer === undefined ? [] : [`consumer=${segment(consumer)}`]),
  ];
  const page = await send<{ pending: Row[]; next: string | null }>(
    "GET",
    groupPath(key, group, `/pending?${query.join("&")}`),
    { signal },
  );
  const entries = page.pending.map((row) => ({
    id: row.id,
    consumer: row.consumer === null ? null : nameOf(row.consumer, row),
    idleMs: row.idle_ms,
    deliveries: row.deliveries,
    claimableAtMs: row.claimable_at_ms ?? undefined,
  }));
  return { entries, next: page.next };
}
