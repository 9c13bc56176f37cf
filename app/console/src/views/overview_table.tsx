/**
 * The table of streams: sortable columns, and what the server says about each stream of the page.
 *
 * This module reads the details of the rows. Which streams are rows is the decision of its callers.
 */
import { useState } from "preact/hooks";
import { bytes, count, many, rate } from "../format";
import { useLoaded } from "../hooks";
import { Problem } from "../messages";
import { identity, readName, shown } from "../names";
import { Spark } from "../plots";
import { href } from "../router";
import { rateNow, ratesOf, samplesOf } from "../samples";
import type { Stream, StreamPage } from "../streams";
import { IdTime, NameText, WhyOff } from "../ui";
import { type Details, detailsOf } from "./overview_details";

const DETAILS_EVERY_MS = 10_000;

type Order = "key" | "length" | "bytes" | "rate" | "lastId" | "lag";

export function Table({
  page,
  parameters,
}: {
  page: StreamPage & { note?: string };
  parameters: URLSearchParams;
}) {
  const [order, setOrder] = useState<Order>("key");
  const keys = page.streams.map((stream) => stream.key);
  const details = useLoaded(
    (signal) => detailsOf(page.streams, signal),
    JSON.stringify(keys),
    DETAILS_EVERY_MS,
  );
  const rows = sorted(page.streams, order, details.data);
  const next = page.next;
  const heading = (by: Order, name: string, kind = "") => (
    <th
      scope="col"
      class={kind}
      aria-sort={order === by ? (by === "key" ? "ascending" : "descending") : undefined}
    >
      <button type="button" class="sort" onClick={() => setOrder(by)}>
        {name}
      </button>
    </th>
  );
  if (page.streams.length === 0) {
    return (
      <p class="empty">
        No stream matches. <a href="/">Show all streams</a>.
      </p>
    );
  }
  return (
    <>
      {details.error && <Problem error={details.error} retry={details.reload} />}
      <WhyOff needs="read" on={keys[0]} />
      <div class="scroll" role="region" aria-label="Streams" tabIndex={0}>
        <table class="rows stacked">
          <thead>
            <tr>
              {heading("key", "Stream")}
              {heading("length", "Entries", "number")}
              {heading("bytes", "Size", "number")}
              {heading("rate", "Appends", "number")}
              <th scope="col">Last minutes</th>
              <th scope="col">First entry</th>
              {heading("lastId", "Last entry")}
              <th scope="col" class="number">
                Groups
              </th>
              {heading("lag", "Worst lag", "number")}
              <th scope="col">Oldest pending</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((stream) => (
              <Row
                key={identity(stream.key)}
                stream={stream}
                details={details.data?.get(identity(stream.key))}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div class="bar pages">
        <span class="quiet small">
          {page.note ??
            `${many(rows.length, "stream")} on this page, in byte order of their keys. Select a heading to sort the page.`}
        </span>
        <span class="grow" />
        {parameters.has("after") || parameters.has("after64") ? (
          <button type="button" onClick={() => history.back()}>
            Previous page
          </button>
        ) : null}
        {next !== undefined && (
          <a class="button" href={href("overview", { prefix: readName(parameters, "prefix"), after: next })}>
            Next page
          </a>
        )}
      </div>
    </>
  );
}

function Row({ stream, details }: { stream: Stream; details: Details | undefined }) {
  const points = samplesOf(`added ${identity(stream.key)}`);
  return (
    <tr>
      <th scope="row">
        <a href={href("stream", { key: stream.key })}>
          <NameText name={stream.key} />
        </a>
      </th>
      <td class="number" data-label="Entries">
        {count(stream.length)}
      </td>
      <td class="number" data-label="Size">
        {details?.bytes === undefined ? <span class="quiet">–</span> : bytes(details.bytes)}
      </td>
      <td class="number" data-label="Appends">
        {rate(rateNow(points))}
      </td>
      <td data-label="Last minutes">
        <Spark points={ratesOf(points)} label={`Appends per second of ${shown(stream.key)}`} />
      </td>
      <td data-label="First entry">
        <IdTime id={details?.firstId} isShort />
      </td>
      <td data-label="Last entry">
        <IdTime id={stream.length === 0 ? null : stream.lastId} isShort />
      </td>
      <td class="number" data-label="Groups">
        {stream.groups === 0 ? (
          <span class="quiet">–</span>
        ) : (
          <a href={href("groups", { key: stream.key })}>{stream.groups}</a>
        )}
      </td>
      <td class="number" data-label="Worst lag">
        {details?.worstGroup !== undefined && (details.worstLag ?? 0) > 0 && (
          <span class="quiet small who">{shown(details.worstGroup)} </span>
        )}
        {details?.worstLag === undefined ? <span class="quiet">–</span> : count(details.worstLag)}
      </td>
      <td data-label="Oldest pending">
        {details?.oldestPendingId === undefined ? (
          <span class="quiet">–</span>
        ) : (
          <a href={href("pending", { key: stream.key, group: details.oldestPendingGroup })}>
            <IdTime id={details.oldestPendingId} isShort />
          </a>
        )}
      </td>
    </tr>
  );
}

function sorted(
  streams: readonly Stream[],
  order: Order,
  details: ReadonlyMap<string, Details> | undefined,
): Stream[] {
  if (order === "key") return [...streams];
  const measure = (stream: Stream): number => {
    if (order === "length") return stream.length;
    if (order === "rate") return rateNow(samplesOf(`added ${identity(stream.key)}`)) ?? 0;
    if (order === "bytes") return details?.get(identity(stream.key))?.bytes ?? -1;
    if (order === "lastId") return Number(stream.lastId.split("-")[0]);
    return details?.get(identity(stream.key))?.worstLag ?? -1;
  };
  return [...streams].sort((one, other) => measure(other) - measure(one));
}
