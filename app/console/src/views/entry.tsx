/**
 * One entry: its fields, its time, who has it pending, and how to copy it or append it again.
 *
 * Each group of the stream takes one look at this one id; nothing else is read.
 */
import { useState } from "preact/hooks";
import { useAction, useLoaded } from "../hooks";
import { type Name, fitsUrl, identity, shown } from "../names";
import { go, href } from "../router";
import { type Reply, pipeline, send } from "../server";
import { type Entry, getEntry, listGroups, streamPath } from "../streams";
import { msOf, written, duration } from "../time";
import { Copy } from "../clipboard";
import { Confirm } from "../dialogs";
import { Outcome, Pending } from "../messages";
import { Act, IdTime, NameText } from "../ui";
import { keepDraft } from "./draft";
import { curlOf, jsonOf, pythonOf, typescriptOf } from "./snippets";
import { Value } from "./values";

const GROUPS_MAX = 100;

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function EntryView({ streamKey, parameters }: Given) {
  const id = parameters.get("id") ?? "";
  const entry = useLoaded((signal) => getEntry(streamKey, id, signal), id);
  return (
    <>
      <Pending of={entry} what="the entry" />
      {entry.data && <Shown streamKey={streamKey} entry={entry.data} />}
      {entry.error?.status === 404 && <Delivered streamKey={streamKey} id={id} />}
    </>
  );
}

function Shown({ streamKey, entry }: { streamKey: Name; entry: Entry }) {
  const ms = msOf(entry.id);
  return (
    <>
      <div class="subject">
        <h2 class="mono">{entry.id}</h2>
        <nav class="bar" aria-label="Entries beside this one">
          <Neighbour streamKey={streamKey} id={entry.id} direction="older" />
          <Neighbour streamKey={streamKey} id={entry.id} direction="newer" />
        </nav>
      </div>
      <dl class="facts">
        {ms !== undefined && (
          <>
            <div>
              <dt>UTC</dt>
              <dd>{written(ms, "utc")}</dd>
            </div>
            <div>
              <dt>Local</dt>
              <dd>{written(ms, "local")}</dd>
            </div>
            <div>
              <dt>Age</dt>
              <dd>
                <IdTime id={entry.id} isShort />
              </dd>
            </div>
          </>
        )}
        <div>
          <dt>Fields</dt>
          <dd>{entry.pairs.length}</dd>
        </div>
      </dl>
      <Origin entry={entry} />
      <Actions streamKey={streamKey} entry={entry} />
      <section aria-label="Fields" class="panel fields">
        {entry.pairs.map(([name, value], index) => (
          <Value key={index} text={value} isBase64={entry.encoding === "base64"} label={shown(name)} />
        ))}
      </section>
      <Delivered streamKey={streamKey} id={entry.id} />
    </>
  );
}

/** Where a dead letter comes from. The fields of the origin are the last ones, so that they count. */
function Origin({ entry }: { entry: Entry }) {
  const fields = new Map(entry.encoding === "base64" ? [] : entry.pairs);
  const [key, id, group] = ["_source_stream", "_source_id", "_group"].map((name) => fields.get(name));
  if (key === undefined || id === undefined) return null;
  return (
    <p class="quiet">
      A dead letter of <a href={href("entry", { key, id })}>{`${shown(key)}, ${id}`}</a>
      {group !== undefined && (
        <>
          , from the group <a href={href("groups", { key, group })}>{shown(group)}</a>
        </>
      )}
      .
    </p>
  );
}

/** A link to the entry before or after this one, found when it is followed. */
function Neighbour({
  streamKey,
  id,
  direction,
}: {
  streamKey: Name;
  id: string;
  direction: "older" | "newer";
}) {
  const action = useAction();
  const find = async () => {
    const isOlder = direction === "older";
    const bound = isOlder
      ? `end=${encodeURIComponent(`(${id}`)}&order=desc`
      : `start=${encodeURIComponent(`(${id}`)}`;
    const page = await send<{ entries: { id: string }[] }>(
      "GET",
      streamPath(streamKey, `/entries?count=1&${bound}`),
    );
    const found = page.entries[0];
    if (found === undefined) return `There is no ${direction} entry.`;
    go(href("entry", { key: streamKey, id: found.id }));
    return undefined;
  };
  return (
    <>
      <button type="button" onClick={() => void action.run(find)}>
        {direction === "older" ? "← Older" : "Newer →"}
      </button>
      <Outcome action={action} />
    </>
  );
}

function Actions({ streamKey, entry }: { streamKey: Name; entry: Entry }) {
  const action = useAction();
  const [isAsking, setAsking] = useState(false);
  const again = () => {
    keepDraft(entry);
    go(href("produce", { key: streamKey }));
  };
  const remove = async () => {
    setAsking(false);
    await send("DELETE", streamPath(streamKey, `/entries/${entry.id}`));
    go(href("stream", { key: streamKey }), { replace: true });
    return undefined;
  };
  return (
    <>
      <div class="bar">
        <Act kind="main" needs="append" on={streamKey} onClick={again}>
          Append again
        </Act>
        <span class="quiet">Copy</span>
        <Copy text={() => location.href}>Link</Copy>
        <Copy text={() => jsonOf(entry)}>JSON</Copy>
        <Copy text={() => curlOf(streamKey, entry.id)}>curl</Copy>
        <Copy text={() => pythonOf(streamKey, entry.id)}>Python</Copy>
        <Copy text={() => typescriptOf(streamKey, entry.id)}>TypeScript</Copy>
        <span class="grow" />
        <Act kind="danger" needs="admin" on={streamKey} onClick={() => setAsking(true)}>
          Delete
        </Act>
      </div>
      <Outcome action={action} />
      {isAsking && (
        <Confirm
          title="Delete this entry?"
          typed={entry.id}
          verb="Delete the entry"
          onConfirm={() => void action.run(remove)}
          onClose={() => setAsking(false)}
        >
          <p>
            The entry disappears for every reader. Groups that have it pending keep the id until they
            acknowledge it.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface Holder {
  readonly group: Name;
  readonly consumer: string | null;
  readonly idleMs: number;
  readonly deliveries: number;
}

/** Which groups have the entry pending, and for whom. */
function Delivered({ streamKey, id }: { streamKey: Name; id: string }) {
  const holders = useLoaded((signal) => holdersOf(streamKey, id, signal), id);
  if (!fitsUrl(streamKey)) return null;
  return (
    <section>
      <h2>Pending</h2>
      <Pending of={holders} what="the groups" />
      {holders.data?.length === 0 && <p class="quiet">No group has this entry pending.</p>}
      {holders.data !== undefined && holders.data.length > 0 && (
        <div class="scroll" role="region" aria-label="Groups with this entry pending" tabIndex={0}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Group</th>
                <th scope="col">Consumer</th>
                <th scope="col">Idle</th>
                <th scope="col" class="number">
                  Deliveries
                </th>
              </tr>
            </thead>
            <tbody>
              {holders.data.map((holder) => (
                <tr key={identity(holder.group)}>
                  <th scope="row">
                    <a href={href("pending", { key: streamKey, group: holder.group })}>
                      <NameText name={holder.group} />
                    </a>
                  </th>
                  <td>
                    {holder.consumer ? (
                      <bdi>{holder.consumer}</bdi>
                    ) : (
                      <span class="quiet">nobody (returned)</span>
                    )}
                  </td>
                  <td>{holder.consumer ? duration(holder.idleMs) : "–"}</td>
                  <td class="number">{holder.deliveries}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

async function holdersOf(key: Name, id: string, signal: AbortSignal): Promise<Holder[]> {
  const groups = (await listGroups(key, signal).catch(() => [])).filter((group) => group.pending > 0);
  if (groups.length === 0) return [];
  const looked = groups.slice(0, GROUPS_MAX);
  const replies = await pipeline(
    looked.map((group) => ["XPENDING", key, group.name, id, id, "1"]),
    { signal },
  );
  return replies.flatMap((reply: Reply, index) => {
    const row = "result" in reply ? (reply.result as [string, string, number, number][])[0] : undefined;
    if (row === undefined) return [];
    return [{ group: looked[index]!.name, consumer: row[1] || null, idleMs: row[2], deliveries: row[3] }];
  });
}
