/**
 * The list of streams: search, pages, counts that follow the server, and the greeting of an empty server.
 *
 * Each page sends one request for the streams, one for their groups, and one for each first id; nothing is read of
 * streams that the page does not show.
 */
import { useState } from "preact/hooks";
import { useLoaded } from "../hooks";
import { type Name, identity, readName, shown } from "../names";
import { Spark } from "../plots";
import { go, href } from "../router";
import { rateNow, ratesOf, sample, samplesOf } from "../samples";
import { type Stream, type StreamPage, listStreams } from "../streams";
import { Act, IdTime, NameText, Pending, Problem, WhyOff, count, rate } from "../ui";
import { type Details, detailsOf } from "./overview_details";
import { Greeting } from "./greeting";
import { search } from "./search";

const ROWS = 25;
const LIST_EVERY_MS = 2_000;
const DETAILS_EVERY_MS = 10_000;

type Order = "key" | "length" | "rate" | "lastId" | "lag";

export function OverviewView({ parameters }: { parameters: URLSearchParams }) {
  const prefix = readName(parameters, "prefix") ?? "";
  const substring = parameters.get("search") ?? "";
  const after = readName(parameters, "after");
  const isSearch = substring !== "";
  const subject = JSON.stringify([prefix, substring, after]);
  const pages = useLoaded(
    async (signal) =>
      isSearch ? search(substring, signal) : listStreams({ prefix, after, limit: ROWS }, signal),
    subject,
    isSearch ? undefined : LIST_EVERY_MS,
  );
  const streams = pages.data?.streams ?? [];
  for (const stream of pages.data === undefined || isSearch ? [] : streams)
    sample(`added ${identity(stream.key)}`, stream.added);
  if (pages.data?.streams.length === 0 && prefix === "" && after === undefined && !isSearch)
    return <Greeting />;
  return (
    <>
      <div class="subject">
        <h1>Streams</h1>
        <SearchForm prefix={prefix} substring={substring} />
        <NewStream />
      </div>
      <Pending of={pages} what="the streams" />
      {pages.data && <Table key={subject} page={pages.data} parameters={parameters} />}
    </>
  );
}

function SearchForm({ prefix, substring }: { prefix: Name; substring: string }) {
  const [text, setText] = useState(substring || (typeof prefix === "string" ? prefix : ""));
  const [kind, setKind] = useState(substring === "" ? "prefix" : "search");
  return (
    <form
      class="bar grow"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(href("overview", { [kind]: text }));
      }}
    >
      <input
        class="grow"
        type="search"
        aria-label="Search for streams"
        placeholder="Search for streams"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <select
        aria-label="How to search"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value)}
      >
        <option value="prefix">begins with</option>
        <option value="search">contains</option>
      </select>
      <button type="submit">Search</button>
    </form>
  );
}

function NewStream() {
  const [isOpen, setOpen] = useState(false);
  const [key, setKey] = useState("");
  if (!isOpen) {
    return (
      <Act kind="main" onClick={() => setOpen(true)}>
        New stream
      </Act>
    );
  }
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        if (key !== "") go(href("produce", { key }));
      }}
    >
      <input
        aria-label="Key of the new stream"
        placeholder="race:france"
        value={key}
        ref={(input) => input?.focus()}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <Act kind="main" submits off={key === "" ? "Enter a key first." : undefined}>
        Append the first entry
      </Act>
    </form>
  );
}

function Table({ page, parameters }: { page: StreamPage & { note?: string }; parameters: URLSearchParams }) {
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
        No stream matches. {page.note} <a href="/">Show all streams</a>.
      </p>
    );
  }
  return (
    <>
      {details.error && <Problem error={details.error} retry={details.reload} />}
      <WhyOff needs="read" on={keys[0]} />
      <div class="scroll" role="region" aria-label="Streams" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              {heading("key", "Stream")}
              {heading("length", "Entries", "number")}
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
            `${rows.length} streams on this page, in byte order of their keys; a column sorts the page`}
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
      <td class="number">{count(stream.length)}</td>
      <td class="number">{rate(rateNow(points))}</td>
      <td>
        <Spark points={ratesOf(points)} label={`Appends per second of ${shown(stream.key)}`} />
      </td>
      <td>
        <IdTime id={details?.firstId} isShort />
      </td>
      <td>
        <IdTime id={stream.length === 0 ? null : stream.lastId} isShort />
      </td>
      <td class="number">
        {stream.groups === 0 ? (
          <span class="quiet">–</span>
        ) : (
          <a href={href("groups", { key: stream.key })}>{stream.groups}</a>
        )}
      </td>
      <td class="number">
        {details?.worstLag === undefined ? <span class="quiet">–</span> : count(details.worstLag)}
        {details?.worstGroup !== undefined && (details.worstLag ?? 0) > 0 && (
          <span class="quiet small"> {shown(details.worstGroup)}</span>
        )}
      </td>
      <td>
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
    if (order === "lastId") return Number(stream.lastId.split("-")[0]);
    return details?.get(identity(stream.key))?.worstLag ?? -1;
  };
  return [...streams].sort((one, other) => measure(other) - measure(one));
}
