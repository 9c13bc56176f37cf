/**
 * The live tail: entries as they arrive over the WebSocket, the newest first.
 *
 * It shows the newest entries and counts all. While it is paused it takes no entries from the subscription, so the
 * server stops at the credit and nothing is lost. After a lost connection the subscription continues where it was.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import type { Name } from "../names";
import { href } from "../router";
import { failure, tailrace } from "../server";
import { type Entry, entryOf } from "../streams";
import { count, many, rate } from "../format";
import { Problem } from "../messages";
import { EntryTable } from "./entry_table";

const SHOWN_MAX = 200;
const CREDIT = 1_000;
const DRAW_EVERY_MS = 100;

interface Shown {
  readonly entries: readonly Entry[];
  readonly received: number;
  readonly perSecond: number;
}

/** What arrived, before it is drawn. */
class Arrivals {
  entries: Entry[] = [];
  received = 0;
  readonly #times: number[] = [];

  add(entry: Entry): void {
    this.received += 1;
    this.entries.push(entry);
    if (this.entries.length > 2 * SHOWN_MAX) this.entries.splice(0, this.entries.length - SHOWN_MAX);
    this.#times.push(Date.now());
    if (this.#times.length > 5_000) this.#times.splice(0, 2_500);
  }

  shown(): Shown {
    const since = Date.now() - 2_000;
    const perSecond = this.#times.filter((ms) => ms > since).length / 2;
    return { entries: this.entries.slice(-SHOWN_MAX).reverse(), received: this.received, perSecond };
  }
}

/** Lets an iteration wait while the reader has paused it. */
class Gate {
  #opens: (() => void) | undefined;
  #waiting: Promise<void> | undefined;

  close(): void {
    this.#waiting ??= new Promise((resolve) => (this.#opens = resolve));
  }

  open(): void {
    this.#opens?.();
    this.#waiting = this.#opens = undefined;
  }

  async pass(): Promise<void> {
    if (this.#waiting !== undefined) await this.#waiting;
  }
}

interface Given {
  readonly streamKey: Name;
  /** Only entries that match it are shown; all entries if it is empty. */
  readonly condition: string;
  /** Whether other requests of the view fail. The subscription then connects again by itself. */
  readonly isOffline: boolean;
}

export function Tail({ streamKey, condition, isOffline }: Given) {
  const [shown, setShown] = useState<Shown>({ entries: [], received: 0, perSecond: 0 });
  const [isOpen, setOpen] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [error, setError] = useState<TailraceError | undefined>();
  const [gaps, setGaps] = useState<readonly string[]>([]);
  const [run, setRun] = useState(0);
  const gate = useRef(new Gate());
  useEffect(() => {
    const leaving = new AbortController();
    const arrivals = new Arrivals();
    const draw = setInterval(() => setShown(arrivals.shown()), DRAW_EVERY_MS);
    setError(undefined);
    setOpen(false);
    const follow = async () => {
      const isText = typeof streamKey === "string";
      const filter = condition === "" ? {} : { filter: condition };
      const entries = tailrace().subscribe([{ key: isText ? streamKey : streamKey.base64, after: "$" }], {
        credit: CREDIT,
        signal: leaving.signal,
        onOpen: () => setOpen(true),
        onGap: (gap) => setGaps((before) => [...before, `between ${gap.from} and ${gap.to}`]),
        ...(isText ? {} : { encoding: "base64" as const }),
        ...filter,
      });
      for await (const entry of entries) {
        arrivals.add(entryOf(entry));
        await gate.current.pass();
      }
    };
    follow().catch((reason: unknown) => {
      if (!leaving.signal.aborted) setError(failure(reason));
    });
    return () => {
      leaving.abort();
      gate.current.open();
      clearInterval(draw);
    };
  }, [run]);
  const isLive = isOpen && !isOffline && error === undefined;
  const toggle = () => {
    gate.current[isPaused ? "open" : "close"]();
    setPaused(!isPaused);
  };
  return (
    <>
      <div class="bar live" data-open={isOpen} data-received={shown.received}>
        <span class={isPaused ? "dot" : isLive ? "dot on" : "dot wait"} aria-hidden="true" />
        <span>
          <strong>
            {isPaused ? "Paused" : isLive ? "Live" : error ? "Ended" : isOpen ? "Reconnecting" : "Connecting"}
          </strong>{" "}
          <span class="quiet">
            {many(shown.received, "entry", "entries")} received · {rate(shown.perSecond)}
            {shown.received > SHOWN_MAX && ` · the newest ${SHOWN_MAX} are shown`}
            {isPaused && " · new entries wait on the server"}
          </span>
        </span>
        <span class="grow" />
        <button type="button" onClick={toggle}>
          {isPaused ? "Resume" : "Pause"}
        </button>
        <a class="button" href={href("stream", { key: streamKey })}>
          Stop
        </a>
      </div>
      {gaps.length > 0 && (
        <p class="why" role="alert">
          Entries {gaps.slice(-3).join(", and ")} were trimmed before they could be shown
          {gaps.length > 3 && ` (and ${count(gaps.length - 3)} earlier gaps)`}.
        </p>
      )}
      {error && <Problem error={error} retry={() => setRun(run + 1)} />}
      {shown.entries.length === 0 && !error && (
        <p class="empty">
          New entries appear here as soon as they are appended
          {condition !== "" && (
            <>
              {" and match "}
              <code>{condition}</code>
            </>
          )}
          .
        </p>
      )}
      {shown.entries.length > 0 && <EntryTable streamKey={streamKey} entries={shown.entries} />}
    </>
  );
}
