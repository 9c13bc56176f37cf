/**
 * What can be done with selected pending entries: acknowledge, return, claim, move to the dead letters.
 *
 * Each action says beforehand what it will do, and afterwards what it did.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../hooks";
import { type Name, namedMembers, shown } from "../names";
import { appendThen, send } from "../server";
import { type Entry, getEntry, getGroup, groupPath } from "../streams";
import { Dialog } from "../dialogs";
import { many } from "../format";
import { Outcome } from "../messages";
import { Act, Field, TextField, WhyOff } from "../ui";
import { deadLettersOf, deadLetter } from "./dead_letters";
import { DelayField, delayMember, whyNoDelay } from "./delay";
import type { PendingEntry } from "./pending";

type Kind = "ack" | "nack" | "claim" | "dead";

interface Given {
  readonly streamKey: Name;
  readonly group: Name;
  /** The stream of dead letters that the group has as a setting. */
  readonly own: Name | undefined;
  readonly chosen: readonly PendingEntry[];
  onDone(): void;
}

/** As many entries as one request moves, so that it stays short for other clients. */
const MOVED_MAX = 100;

export function PendingActions({ streamKey, group, own, chosen, onDone }: Given) {
  const [kind, setKind] = useState<Kind | undefined>();
  const action = useAction();
  const off = chosen.length === 0 ? "Select entries first." : undefined;
  const run = (work: () => Promise<string>) => {
    setKind(undefined);
    void action.run(async () => {
      const done = await work();
      onDone();
      return done;
    });
  };
  const given = { streamKey, group, own, chosen, run, onClose: () => setKind(undefined) };
  return (
    <>
      <div class="bar actions">
        <span class="quiet small" aria-live="polite">
          {chosen.length === 0
            ? "Select entries to act on them."
            : `${many(chosen.length, "entry", "entries")} selected`}
        </span>
        <span class="grow" />
        <Act needs="consume" on={streamKey} off={off} onClick={() => setKind("ack")}>
          Acknowledge
        </Act>
        <Act needs="consume" on={streamKey} off={off} onClick={() => setKind("nack")}>
          Return
        </Act>
        <Act needs="consume" on={streamKey} off={off} onClick={() => setKind("claim")}>
          Claim
        </Act>
        <Act
          needs={own === undefined ? ["read", "append", "consume"] : ["read", "consume"]}
          on={streamKey}
          off={off}
          onClick={() => setKind("dead")}
        >
          To dead letters
        </Act>
      </div>
      <WhyOff needs="consume" on={streamKey} />
      <Outcome action={action} />
      {kind === "ack" && <Acknowledge {...given} />}
      {kind === "nack" && <Return {...given} />}
      {kind === "claim" && <Claim {...given} />}
      {kind === "dead" && (own === undefined ? <Move {...given} /> : <MoveToOwn {...given} own={own} />)}
    </>
  );
}

interface DialogProps extends Omit<Given, "onDone"> {
  run(work: () => Promise<string>): void;
  onClose(): void;
}

function Acknowledge({ streamKey, group, chosen, run, onClose }: DialogProps) {
  const work = async () => {
    const body = { ids: idsOf(chosen) };
    const reply = await send<{ acknowledged: number }>("POST", groupPath(streamKey, group, ":ack"), { body });
    return `${many(reply.acknowledged, "entry", "entries")} acknowledged${missed(chosen.length - reply.acknowledged)}.`;
  };
  return (
    <Choice
      title={`Acknowledge ${many(chosen.length, "entry", "entries")}?`}
      verb="Acknowledge"
      onRun={() => run(work)}
      onClose={onClose}
    >
      <p>
        They leave the pending list of {shown(group)}, and no consumer gets them again. They stay in the
        stream.
      </p>
    </Choice>
  );
}

function Return({ streamKey, group, chosen, run, onClose }: DialogProps) {
  const [mode, setMode] = useState("fail");
  const [delay, setDelay] = useState("");
  const work = async () => {
    const body = { ids: idsOf(chosen), mode, ...delayMember(delay) };
    const reply = await send<{ nacked: number }>("POST", groupPath(streamKey, group, ":nack"), { body });
    return `${many(reply.nacked, "entry", "entries")} returned to the group${missed(chosen.length - reply.nacked)}.`;
  };
  return (
    <Choice
      title={`Return ${many(chosen.length, "entry", "entries")}?`}
      verb="Return"
      off={whyNoDelay(delay)}
      onRun={() => run(work)}
      onClose={onClose}
    >
      <p>They have no owner then, and the next consumer that claims gets them first.</p>
      <Field label="How the delivery counts">
        <select value={mode} onChange={(event) => setMode(event.currentTarget.value)}>
          <option value="fail">it counts as a delivery</option>
          <option value="silent">it does not count</option>
          <option value="fatal">the entry should not be tried again</option>
        </select>
      </Field>
      <DelayField
        label="Not again before (s)"
        hint="Empty: after the backoff of the group, or at once."
        value={delay}
        onInput={setDelay}
      />
    </Choice>
  );
}

function Claim({ streamKey, group, chosen, run, onClose }: DialogProps) {
  const [consumer, setConsumer] = useState("");
  const [idle, setIdle] = useState("0");
  const work = async () => {
    const body = {
      ...namedMembers({ consumer }),
      ids: idsOf(chosen),
      min_idle_ms: Math.round(Number(idle) * 1000) || 0,
      just_id: true,
    };
    const reply = await send<{ ids?: string[] }>("POST", groupPath(streamKey, group, ":claim"), { body });
    const claimed = reply.ids?.length ?? 0;
    return `${many(claimed, "entry is", "entries are")} pending for ${consumer} now${missed(chosen.length - claimed)}.`;
  };
  const off = consumer === "" ? "Enter a consumer first." : undefined;
  return (
    <Choice
      title={`Claim ${many(chosen.length, "entry", "entries")}?`}
      verb="Claim"
      off={off}
      onRun={() => run(work)}
      onClose={onClose}
    >
      <p>
        They become pending for one consumer, with an idle time of 0. Its next read of its own entries returns
        them.
      </p>
      <TextField label="Consumer" class="wide" value={consumer} onInput={setConsumer} />
      <TextField
        label="Only if idle for at least (s)"
        class="short"
        inputMode="numeric"
        value={idle}
        onInput={setIdle}
      />
    </Choice>
  );
}

function Move({ streamKey, group, chosen, run, onClose }: DialogProps) {
  const [target, setTarget] = useState(deadLettersOf(streamKey));
  const [reason, setReason] = useState("");
  const moved = chosen.slice(0, MOVED_MAX);
  const work = async () => {
    const entries = await Promise.all(moved.map((pending) => getEntry(streamKey, pending.id)));
    const letters = entries.map((entry: Entry, index) =>
      deadLetter(target, { streamKey, group, entry, deliveries: moved[index]!.deliveries, reason }),
    );
    const count = await appendThen(letters, (appended) => [
      ["XACK", streamKey, group, ...appended.map((index) => entries[index]!.id)],
    ]);
    return `${many(count, "entry", "entries")} moved to ${target} and acknowledged.`;
  };
  const off = target === "" ? "Enter a stream first." : undefined;
  return (
    <Choice
      title={`Move ${many(moved.length, "entry", "entries")} to the dead letters?`}
      verb="Move"
      off={off}
      onRun={() => run(work)}
      onClose={onClose}
    >
      <p>
        They are appended to another stream, with their origin. Those that were appended are acknowledged in{" "}
        {shown(group)}.
        {moved.length < chosen.length && ` The first ${MOVED_MAX} of ${chosen.length} are moved.`}
      </p>
      <TextField label="Stream of dead letters" class="wide mono" value={target} onInput={setTarget} />
      <TextField
        label="Reason"
        hint="Kept as the field last_error."
        class="wide"
        value={reason}
        onInput={setReason}
      />
    </Choice>
  );
}

/** The server moves the entries, in one atomic step: a fatal nack does that in a group with a dead-letter stream. */
function MoveToOwn({ streamKey, group, own, chosen, run, onClose }: DialogProps & { own: Name }) {
  const work = async () => {
    const before = (await getGroup(streamKey, group)).deadLetters;
    const body = { ids: idsOf(chosen), mode: "fatal" };
    const reply = await send<{ nacked: number }>("POST", groupPath(streamKey, group, ":nack"), { body });
    const { deadLetters } = await getGroup(streamKey, group);
    const moved = Math.min(reply.nacked, deadLetters - before);
    const returned = reply.nacked - moved;
    return `${many(moved, "entry", "entries")} moved to ${shown(own)} and acknowledged${
      returned > 0 ? `; ${returned} returned to the group instead` : ""
    }${missed(chosen.length - reply.nacked)}.`;
  };
  return (
    <Choice
      title={`Move ${many(chosen.length, "entry", "entries")} to the dead letters?`}
      verb="Move"
      onRun={() => run(work)}
      onClose={onClose}
    >
      <p>
        The server appends them to <span class="mono">{shown(own)}</span>, the dead-letter stream of{" "}
        {shown(group)}, with six fields about their origin, and acknowledges them, in one step.
      </p>
    </Choice>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly verb: string;
  readonly off?: string | undefined;
  readonly children: ComponentChildren;
  onRun(): void;
  onClose(): void;
}

function Choice({ title, verb, off, children, onRun, onClose }: ChoiceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) onRun();
        }}
      >
        {children}
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="main" submits off={off}>
            {verb}
          </Act>
        </div>
      </form>
    </Dialog>
  );
}

function idsOf(entries: readonly PendingEntry[]): string[] {
  return entries.map((entry) => entry.id);
}

function missed(number: number): string {
  return number <= 0 ? "" : `; ${number} had changed meanwhile and stayed as they were`;
}
