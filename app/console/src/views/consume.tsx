/**
 * Consumers in the page: two of them beside each other, so that readers can watch how a group shares its entries.
 *
 * A consumer takes a new entry only while it holds fewer than its credit, and it holds an entry until the reader
 * acknowledges or returns it. Each run has a WebSocket of its own: when that closes, the server returns what this
 * consumer still owns, as if it had not been delivered.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Delivery } from "tailrace-client/index";
import type { TailraceError } from "tailrace-client/errors";
import { useLoaded } from "../hooks";
import { type Name, readName, shown } from "../names";
import { href } from "../router";
import { failure, newClient, onToken } from "../server";
import { entryOf, listConsumers, listGroups } from "../streams";
import { many } from "../format";
import { Pending, Problem } from "../messages";
import { duration } from "../time";
import { Act, Field, TextField, WhyOff } from "../ui";
import { Fields } from "./entry_table";

/** A consumer of the group that was seen within this time counts as a live one. */
const LIVE_MS = 60_000;
const EVERY_MS = 5_000;

/**
 * Longer than any consumer works on an entry, and shorter than the idle time of a returned entry, which counts from
 * 1970: who claims after this time takes over only returned entries.
 */
const RETURNED_ONLY_MS = 20 * 365 * 86_400_000;

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function ConsumeView({ streamKey, parameters }: Given) {
  const groups = useLoaded((signal) => listGroups(streamKey, signal), "groups");
  const [chosen, setChosen] = useState(readName(parameters, "group"));
  const names = (groups.data ?? []).map((group) => group.name).filter((name) => typeof name === "string");
  const group = typeof chosen === "string" ? chosen : names[0];
  const settings = groups.data?.find(({ name }) => name === group)?.settings;
  const lease = settings?.["claim_min_idle_ms"];
  const leaseMs = typeof lease === "number" ? lease : undefined;
  if (typeof streamKey !== "string") {
    return (
      <p class="empty">
        Consumers in the page need a stream whose name is text. Use the Command view for this stream.
      </p>
    );
  }
  if (groups.data !== undefined && group === undefined) {
    return (
      <p class="empty">
        A consumer belongs to a group, and this stream has none.{" "}
        <a href={href("groups", { key: streamKey })}>Create a group</a>.
      </p>
    );
  }
  return (
    <>
      <p class="lead">
        Start both consumers: each entry goes to one of them and stays pending until you acknowledge it. If
        you stop a consumer, its entries return to the group, and the other one takes them over.
      </p>
      <Pending of={groups} what="the groups" />
      <WhyOff needs="consume" on={streamKey} />
      {group !== undefined && (
        <>
          <div class="toolbar">
            <Field label="Group">
              <select value={group} onChange={(event) => setChosen(event.currentTarget.value)}>
                {names.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </Field>
          </div>
          <Shared key={group} streamKey={streamKey} group={group} leaseMs={leaseMs} />
        </>
      )}
    </>
  );
}

interface SharedProps {
  readonly streamKey: string;
  readonly group: string;
  /** The group's own `claim_min_idle_ms`. */
  readonly leaseMs: number | undefined;
}

/** The two consumers, and whose entries they share. */
function Shared(props: SharedProps) {
  const { streamKey, group } = props;
  const own = useRef(new Set<string>());
  const consumers = useLoaded((signal) => listConsumers(streamKey, group, signal), group, EVERY_MS);
  const live = (consumers.data ?? []).filter(
    ({ name, idleMs }) => idleMs < LIVE_MS && !(typeof name === "string" && own.current.has(name)),
  );
  const start = (name: string) => void own.current.add(name);
  return (
    <>
      {live.length > 0 && (
        <p class="why" role="note">
          {live
            .slice(0, 3)
            .map(({ name }) => shown(name))
            .join(", ")}
          {live.length > 3 && ` and ${live.length - 3} more`} {live.length === 1 ? "was" : "were"} active in
          the last minute. Consumers in the page take new entries away from the other consumers of the group,
          until you return the entries.
        </p>
      )}
      <div class="consumers">
        <Consumer {...props} name="alice" onStart={start} />
        <Consumer {...props} name="bob" onStart={start} />
      </div>
    </>
  );
}

interface ConsumerProps extends SharedProps {
  readonly name: string;
  onStart(name: string): void;
}

/** Lets an iteration wait until there is room for another entry. */
class Room {
  #freed: () => void = () => undefined;
  held = 0;

  constructor(private readonly most: number) {}

  async wait(): Promise<void> {
    while (this.held >= this.most) await new Promise<void>((resolve) => (this.#freed = resolve));
  }

  free(): void {
    this.held -= 1;
    this.#freed();
  }
}

function Consumer({ streamKey, group, leaseMs, name: suggested, onStart }: ConsumerProps) {
  const [name, setName] = useState(suggested);
  const [credit, setCredit] = useState("3");
  const [idle, setIdle] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [held, setHeld] = useState<readonly Delivery[]>([]);
  const [settled, setSettled] = useState({ acked: 0, nacked: 0 });
  const [error, setError] = useState<TailraceError | undefined>();
  const leaving = useRef<AbortController | undefined>(undefined);
  const room = useRef<Room>(new Room(1));
  const stop = () => leaving.current?.abort();
  useEffect(() => stop, []);
  useEffect(() => onToken(stop), []);
  const start = async () => {
    const controller = new AbortController();
    leaving.current = controller;
    const client = newClient();
    controller.signal.addEventListener("abort", () => client.close());
    room.current = new Room(Math.max(1, Number(credit) || 1));
    onStart(name);
    setRunning(true);
    setError(undefined);
    try {
      const deliveries = client
        .stream(streamKey)
        .group(group)
        .consume({
          consumer: name,
          credit: Math.max(1, Number(credit) || 1),
          claimMinIdleMs: claimTime(idle, leaseMs),
          signal: controller.signal,
        });
      for await (const delivery of deliveries) {
        room.current.held += 1;
        setHeld((before) => [...before.filter(({ id }) => id !== delivery.id), delivery]);
        await Promise.race([room.current.wait(), aborted(controller.signal)]);
      }
    } catch (reason) {
      if (!controller.signal.aborted) setError(failure(reason));
    }
    controller.abort();
    setHeld([]);
    setRunning(false);
  };
  const settle = async (delivery: Delivery, how: "ack" | "nack") => {
    try {
      await delivery[how]();
      setSettled((before) => ({ ...before, [`${how}ed`]: before[`${how}ed`] + 1 }));
      setHeld((before) => before.filter(({ id }) => id !== delivery.id));
      room.current.free();
    } catch (reason) {
      setError(failure(reason));
    }
  };
  return (
    <section class="panel" aria-label={`Consumer ${name}`}>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          if (isRunning) stop();
          else if (name !== "") void start();
        }}
      >
        <TextField label="Consumer" class="short" value={name} isOff={isRunning} onInput={setName} />
        <TextField
          label="Credit"
          class="tiny"
          inputMode="numeric"
          value={credit}
          isOff={isRunning}
          onInput={setCredit}
        />
        <TextField
          label="Claim after (s)"
          class="tiny"
          inputMode="numeric"
          placeholder={leaseMs === undefined ? "never" : String(leaseMs / 1000)}
          value={idle}
          isOff={isRunning}
          onInput={setIdle}
        />
        <Act kind={isRunning ? "plain" : "main"} submits needs="consume" on={streamKey}>
          {isRunning ? "Stop" : "Start"}
        </Act>
      </form>
      <p class="quiet small" aria-live="polite">
        {isRunning ? "Running" : "Stopped"} · holds {many(held.length, "entry", "entries")} · {settled.acked}{" "}
        acknowledged · {settled.nacked} returned
      </p>
      {error && <Problem error={error} retry={() => void start()} />}
      <ul class="held">
        {held.map((delivery) => (
          <li key={delivery.id}>
            <div>
              <a class="mono" href={href("entry", { key: streamKey, id: delivery.id })}>
                {delivery.id}
              </a>
              {delivery.deliveries > 0 && (
                <span class="tag" title="Earlier deliveries">
                  again, {beforeOf(delivery.idleMs)}
                </span>
              )}
              <Fields entry={entryOf(delivery)} />
            </div>
            <div class="bar">
              <button
                type="button"
                class="main"
                aria-label={`Acknowledge ${delivery.id}`}
                onClick={() => void settle(delivery, "ack")}
              >
                Acknowledge
              </button>
              <button
                type="button"
                aria-label={`Return ${delivery.id}`}
                onClick={() => void settle(delivery, "nack")}
              >
                Return
              </button>
            </div>
          </li>
        ))}
      </ul>
      {isRunning && held.length === 0 && <p class="quiet small">Waiting for entries of {shown(group)}.</p>}
    </section>
  );
}

/** Returns after which idle time a consumer claims: by its field, else by the setting of the group. */
function claimTime(text: string, leaseMs: number | undefined): number | null {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0) return Math.round(seconds * 1000);
  return leaseMs === undefined ? RETURNED_ONLY_MS : null;
}

/** Returns what was before a repeated delivery. The server counts the idle time of a returned entry from 1970. */
function beforeOf(idleMs: number): string {
  return idleMs > Date.now() / 2 ? "returned before" : `idle for ${duration(idleMs)}`;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  );
}
