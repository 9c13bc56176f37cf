/**
 * Consumers in the page: two of them beside each other, so that readers can watch how a group shares its entries.
 *
 * A consumer takes a new entry only while it holds fewer than its credit, and it holds an entry until the reader
 * acknowledges or returns it.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Delivery } from "tailrace-client/index";
import type { TailraceError } from "tailrace-client/errors";
import { useLoaded } from "../hooks";
import { type Name, readName, shown } from "../names";
import { href } from "../router";
import { failure, tailrace } from "../server";
import { entryOf, listGroups } from "../streams";
import { many } from "../format";
import { Pending, Problem } from "../messages";
import { duration } from "../time";
import { Act, Field, TextField, WhyOff } from "../ui";
import { Fields } from "./entry_table";

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function ConsumeView({ streamKey, parameters }: Given) {
  const groups = useLoaded((signal) => listGroups(streamKey, signal), "groups");
  const [chosen, setChosen] = useState(readName(parameters, "group"));
  const names = (groups.data ?? []).map((group) => group.name).filter((name) => typeof name === "string");
  const group = typeof chosen === "string" ? chosen : names[0];
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
          <div class="consumers" key={group}>
            <Consumer streamKey={streamKey} group={group} name="alice" />
            <Consumer streamKey={streamKey} group={group} name="bob" />
          </div>
        </>
      )}
    </>
  );
}

interface ConsumerProps {
  readonly streamKey: string;
  readonly group: string;
  readonly name: string;
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

function Consumer({ streamKey, group, name: suggested }: ConsumerProps) {
  const [name, setName] = useState(suggested);
  const [credit, setCredit] = useState("3");
  const [idle, setIdle] = useState("5");
  const [isRunning, setRunning] = useState(false);
  const [held, setHeld] = useState<readonly Delivery[]>([]);
  const [settled, setSettled] = useState({ acked: 0, nacked: 0 });
  const [error, setError] = useState<TailraceError | undefined>();
  const leaving = useRef<AbortController | undefined>(undefined);
  const room = useRef<Room>(new Room(1));
  useEffect(() => () => leaving.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    leaving.current = controller;
    room.current = new Room(Math.max(1, Number(credit) || 1));
    setRunning(true);
    setError(undefined);
    try {
      const deliveries = tailrace()
        .stream(streamKey)
        .group(group)
        .consume({
          consumer: name,
          credit: Math.max(1, Number(credit) || 1),
          claimMinIdleMs: Math.round((Number(idle) || 0) * 1000),
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
    setRunning(false);
  };
  const stop = async () => {
    const given = held;
    leaving.current?.abort();
    setHeld([]);
    await Promise.allSettled(given.map((delivery) => delivery.nack({ mode: "silent" })));
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
          if (isRunning) void stop();
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

/** Returns what was before a repeated delivery. The server counts the idle time of a returned entry from 1970. */
function beforeOf(idleMs: number): string {
  return idleMs > Date.now() / 2 ? "returned before" : `idle for ${duration(idleMs)}`;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  );
}
