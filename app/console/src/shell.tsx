/**
 * The frame of all views: navigation, time zone, colours, and the sign-in when the server asks for a token.
 *
 * This module owns which view shows for a place. The views own what is in it.
 */
import { useEffect, useState } from "preact/hooks";
import { AccessContext, loadAccess } from "./access";
import { useLoaded } from "./hooks";
import { type Name, readName } from "./names";
import { type Place, type View, href, usePlace } from "./router";
import { useZone } from "./time";
import { NameText } from "./ui";
import { AccessView, SignIn } from "./views/access";
import { CommandView } from "./views/command";
import { ConsumeView } from "./views/consume";
import { EntryView } from "./views/entry";
import { GroupsView } from "./views/groups";
import { ManageView } from "./views/manage";
import { OverviewView } from "./views/overview";
import { PendingView } from "./views/pending";
import { ProduceView } from "./views/produce";
import { ServerView } from "./views/server";
import { StreamView } from "./views/stream";

const ACCESS_EVERY_MS = 30_000;

const MAIN: readonly (readonly [View, string])[] = [
  ["overview", "Streams"],
  ["command", "Command"],
  ["server", "Server"],
  ["access", "Access"],
];

const OF_STREAM: readonly (readonly [View, string])[] = [
  ["stream", "Entries"],
  ["groups", "Groups"],
  ["pending", "Pending"],
  ["produce", "Produce"],
  ["consume", "Consume"],
  ["manage", "Manage"],
];

export function Shell() {
  const place = usePlace();
  const access = useLoaded(loadAccess, "access", ACCESS_EVERY_MS);
  const key = readName(place.parameters, "key");
  useEffect(() => {
    document.title = `${typeof key === "string" ? `${key} · ` : ""}${titleOf(place.view)} · Tailrace`;
  }, [place.view, key]);
  const mustSignIn = access.error?.status === 401;
  return (
    <AccessContext.Provider value={access}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M6 11h13M6 16h20M6 21h9" />
          </svg>
          Tailrace
        </a>
        <nav aria-label="Main">
          {MAIN.map(([view, name]) => (
            <a key={view} href={href(view)} aria-current={isIn(place.view, view) ? "page" : undefined}>
              {name}
            </a>
          ))}
          <a href="/docs">API</a>
        </nav>
        <Choices />
      </header>
      <main id="main" tabIndex={-1}>
        {mustSignIn ? <SignIn error={access.error} /> : <Body place={place} streamKey={key} />}
      </main>
    </AccessContext.Provider>
  );
}

function isIn(view: View, main: View): boolean {
  return (
    view === main || (main === "overview" && (view === "entry" || OF_STREAM.some(([each]) => each === view)))
  );
}

function titleOf(view: View): string {
  if (view === "entry") return "Entry";
  return [...MAIN, ...OF_STREAM].find(([each]) => each === view)![1];
}

function Body({ place, streamKey }: { place: Place; streamKey: Name | undefined }) {
  const { view, parameters } = place;
  if (view === "overview") return <OverviewView parameters={parameters} />;
  if (view === "command") return <CommandView />;
  if (view === "server") return <ServerView />;
  if (view === "access") return <AccessView />;
  if (streamKey === undefined) {
    return (
      <p class="empty">
        This view needs the key of a stream. <a href="/">Choose a stream</a>.
      </p>
    );
  }
  return (
    <>
      <div class="subject">
        <nav class="crumbs" aria-label="Place">
          <a href="/">Streams</a>
          <span aria-hidden="true">/</span>
        </nav>
        <h1>
          <NameText name={streamKey} />
        </h1>
      </div>
      <nav class="tabs" aria-label="Stream">
        {OF_STREAM.map(([each, name]) => (
          <a
            key={each}
            href={href(each, { key: streamKey })}
            aria-current={each === view || (each === "stream" && view === "entry") ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <OfStream
        key={JSON.stringify([view, streamKey])}
        view={view}
        streamKey={streamKey}
        parameters={parameters}
      />
    </>
  );
}

function OfStream({
  view,
  streamKey,
  parameters,
}: {
  view: View;
  streamKey: Name;
  parameters: URLSearchParams;
}) {
  const given = { streamKey, parameters };
  if (view === "entry") return <EntryView {...given} />;
  if (view === "groups") return <GroupsView {...given} />;
  if (view === "pending") return <PendingView {...given} />;
  if (view === "produce") return <ProduceView {...given} />;
  if (view === "consume") return <ConsumeView {...given} />;
  if (view === "manage") return <ManageView {...given} />;
  return <StreamView {...given} />;
}

/** The choices that hold for all views: the zone of times, and light or dark. */
function Choices() {
  const [zone, setZone] = useZone();
  const [look, setLook] = useState(() => localStorage.getItem("tailrace-look") ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["look"] = look;
    localStorage.setItem("tailrace-look", look);
  }, [look]);
  return (
    <div class="choices">
      <label>
        <span class="hidden">Times in</span>
        <select
          value={zone}
          onChange={(event) => setZone(event.currentTarget.value === "local" ? "local" : "utc")}
        >
          <option value="utc">UTC</option>
          <option value="local">Local time</option>
        </select>
      </label>
      <label>
        <span class="hidden">Colours</span>
        <select value={look} onChange={(event) => setLook(event.currentTarget.value)}>
          <option value="auto">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
    </div>
  );
}
