/**
 * The list of streams: search, pages, counts that follow the server, and the greeting of an empty server.
 *
 * Each page sends one request for the streams, one for their groups, and one for each first id; nothing is read of
 * streams that the page does not show.
 */
import { useState } from "preact/hooks";
import { useLoaded } from "../hooks";
import { Pending } from "../messages";
import { identity, type Name, readName } from "../names";
import { go, href } from "../router";
import { sample } from "../samples";
import { listStreams } from "../streams";
import { Act } from "../ui";
import { Greeting } from "./greeting";
import { SearchResults } from "./overview_search";
import { Table } from "./overview_table";

const ROWS = 25;
const LIST_EVERY_MS = 2_000;

export function OverviewView({ parameters }: { parameters: URLSearchParams }) {
  const prefix = readName(parameters, "prefix") ?? "";
  const text = parameters.get("search") ?? "";
  if (text === "") return <Pages prefix={prefix} parameters={parameters} />;
  return (
    <>
      <Head prefix={prefix} text={text} />
      <SearchResults key={text} text={text} parameters={parameters} />
    </>
  );
}

/** A page of the list, or the greeting if the server has no streams. */
function Pages({ prefix, parameters }: { prefix: Name; parameters: URLSearchParams }) {
  const after = readName(parameters, "after");
  const subject = JSON.stringify([prefix, after]);
  const pages = useLoaded(
    (signal) => listStreams({ prefix, after, limit: ROWS }, signal),
    subject,
    LIST_EVERY_MS,
  );
  const streams = pages.data?.streams ?? [];
  for (const stream of streams) sample(`added ${identity(stream.key)}`, stream.added);
  if (pages.data && streams.length === 0 && prefix === "" && after === undefined) return <Greeting />;
  return (
    <>
      <Head prefix={prefix} text="" />
      <Pending of={pages} what="the streams" />
      {pages.data && <Table key={subject} page={pages.data} parameters={parameters} />}
    </>
  );
}

function Head({ prefix, text }: { prefix: Name; text: string }) {
  return (
    <div class="subject streams">
      <h1>Streams</h1>
      <SearchForm prefix={prefix} substring={text} />
      <NewStream />
    </div>
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
        placeholder="Key of a stream"
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
