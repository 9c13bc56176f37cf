/**
 * One group in full: its position, its actions, its plots over time, and its consumers.
 */
import { useState } from "preact/hooks";
import { count } from "../format";
import { useLoaded } from "../hooks";
import { Pending } from "../messages";
import { identity, type Name, shown } from "../names";
import { Line } from "../plots";
import { href } from "../router";
import { samplesOf } from "../samples";
import { type Group, listConsumers, type Stream } from "../streams";
import { duration } from "../time";
import { IdTime, NameText } from "../ui";
import { GroupActions } from "./group_actions";
import { GroupSettings } from "./group_settings";
import { EVERY_MS, subject } from "./group_samples";

const CONSUMERS_SHOWN = 200;

/** Why the server has no number, in words. */
export const LAG_UNKNOWN =
  "The engine of the gateway does not know the lag: the group began in the middle of the stream, or entries there were deleted.";

export function Chosen({
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
  const consumers = useLoaded(
    (signal) => listConsumers(streamKey, group.name, signal),
    "consumers",
    EVERY_MS,
  );
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
        <Line
          title="Lag"
          unit="entries"
          points={samplesOf(subject("lag", streamKey, group))}
          empty={group.lag === null ? LAG_UNKNOWN : undefined}
        />
        <Line
          title="Behind the newest entry"
          unit="seconds"
          points={samplesOf(subject("behind", streamKey, group))}
          format={(value) => (value < 10 ? value.toFixed(1) : count(Math.round(value)))}
        />
        <Line title="Pending" unit="entries" points={samplesOf(subject("pending", streamKey, group))} />
      </div>
      <GroupSettings streamKey={streamKey} group={group} onDone={onDone} />
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
          <table class="rows stacked">
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
                  <td class="number" data-label="Pending">
                    {count(consumer.pending)}
                  </td>
                  <td class="number" data-label="Idle">
                    {duration(consumer.idleMs)}
                  </td>
                  <td class="number" data-label="Without an entry">
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
