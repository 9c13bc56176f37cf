/**
 * The retention of a stream: the rules by which the server removes its oldest entries, and what they removed.
 *
 * The server removes the entries; this module only shows and replaces the rules.
 */
import { useState } from "preact/hooks";
import type { api } from "tailrace-client/index";
import { Dialog } from "../dialogs";
import { bytes, count, many } from "../format";
import { type Action, useAction, useLoaded } from "../hooks";
import { Outcome } from "../messages";
import { type Name, shown } from "../names";
import { send } from "../server";
import { streamPath } from "../streams";
import { duration, exactDuration, readDuration } from "../time";
import { Act, TextField, WhyOff } from "../ui";

type State = api.RetentionState;

const AGE_HINT = "In days, or with a unit: 12 h, 90 min, 30 s. Counted from the time in the id.";
const MB = 1_000_000;
const EVERY_MS = 5_000;

export function Retention({ streamKey }: { streamKey: Name }) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const state = useLoaded<State | null>(
    async (signal) =>
      (await send<api.StreamState>("GET", streamPath(streamKey), { signal })).retention ?? null,
    "retention",
    EVERY_MS,
  );
  const apply = (retention: Readonly<Record<string, unknown>> | null) =>
    void action.run(async () => {
      await send("POST", streamPath(streamKey, ":configure"), { body: { retention } });
      // A refused form stays open, with what the reader has typed.
      setAsking(false);
      state.reload();
      return retention === null
        ? "The stream keeps all entries now."
        : "The new rules apply within a second.";
    });
  const close = () => {
    setAsking(false);
    if (action.error) action.clear();
  };
  return (
    <section class="panel">
      <h2>Retention</h2>
      {state.data ? (
        <Rules state={state.data} />
      ) : (
        <p class="quiet">
          {state.data === null ? "The stream keeps all its entries." : state.error === undefined && "Loading"}
        </p>
      )}
      <div class="bar">
        <Act
          needs="admin"
          on={streamKey}
          off={state.data === undefined ? "The present rules are not loaded yet." : undefined}
          onClick={() => setAsking(true)}
        >
          Change rules
        </Act>
        {state.data && (
          <Act needs="admin" on={streamKey} onClick={() => apply(null)}>
            Keep all entries
          </Act>
        )}
      </div>
      <WhyOff needs="admin" on={streamKey} />
      {!isAsking && <Outcome action={action} />}
      {isAsking && (
        <Form
          title={`Retention of ${shown(streamKey)}`}
          state={state.data ?? undefined}
          action={action}
          onApply={apply}
          onClose={close}
        />
      )}
    </section>
  );
}

function Rules({ state }: { state: State }) {
  const removed = Object.values(state.removed).reduce((sum, each) => sum + each, 0);
  const rules = [
    state.max_age_ms && `entries of the last ${duration(state.max_age_ms)}`,
    state.max_length && `the newest ${many(state.max_length, "entry", "entries")}`,
    state.max_bytes && `${bytes(state.max_bytes)} of entries`,
    state.acknowledged && "what a group has not acknowledged",
  ].filter(Boolean);
  return (
    <dl class="rows-list">
      <div>
        <dt>Keeps</dt>
        <dd>
          {rules.join("; ")}
          {state.protect_unread && "; and all that a group has not read"}
        </dd>
      </div>
      <div>
        <dt>Removed so far</dt>
        <dd>{many(removed, "entry", "entries")}</dd>
      </div>
      {state.protect_unread && (
        <div>
          <dt>Kept because unread</dt>
          <dd>{count(state.protected_entries)}</dd>
        </div>
      )}
    </dl>
  );
}

interface FormProps {
  readonly title: string;
  readonly state: State | undefined;
  readonly action: Action;
  onApply(retention: Readonly<Record<string, unknown>>): void;
  onClose(): void;
}

function Form({ title, state, action, onApply, onClose }: FormProps) {
  const [age, setAge] = useState(state?.max_age_ms ? exactDuration(state.max_age_ms) : "");
  const [length, setLength] = useState(written(state?.max_length, 1));
  const [megabytes, setMegabytes] = useState(written(state?.max_bytes, MB));
  const [acknowledged, setAcknowledged] = useState(state?.acknowledged ?? false);
  const [protects, setProtects] = useState(state?.protect_unread ?? false);
  const numbers = {
    max_age_ms: [age, readDuration(age)],
    max_length: [length, Number(length)],
    max_bytes: [megabytes, Number(megabytes) * MB],
  } as const;
  const rules = Object.entries(numbers)
    .filter(([, [text]]) => text !== "")
    .map(([name, [, value]]) => [name, Math.round(value)] as const);
  const off = rules.some(([, value]) => !(value >= 1))
    ? "Enter numbers above 0; the age may have a unit, such as 12 h."
    : rules.length === 0 && !acknowledged
      ? "Enter at least one rule that removes entries."
      : undefined;
  const field = (label: string, hint: string, text: string, set: (text: string) => void) => (
    <TextField
      label={label}
      hint={hint}
      class="mono"
      inputMode="decimal"
      placeholder="no limit"
      value={text}
      onInput={(text) => set(text.trim())}
    />
  );
  const tick = (label: string, value: boolean, set: (value: boolean) => void) => (
    <label class="bar">
      <input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} />
      {label}
    </label>
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined)
            onApply({ ...Object.fromEntries(rules), acknowledged, protect_unread: protects });
        }}
      >
        <p>The server removes the oldest entries by these rules. It cannot bring them back.</p>
        {field("Age to keep", AGE_HINT, age, setAge)}
        {field("Entries to keep", "The newest ones.", length, setLength)}
        {field("MB to keep", "As compact JSON, before compression.", megabytes, setMegabytes)}
        {tick("Remove what every group has acknowledged", acknowledged, setAcknowledged)}
        {tick("Keep what a group has not read", protects, setProtects)}
        {off !== undefined && <p class="why">{off}</p>}
        <Outcome action={action} />
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="danger" submits off={off}>
            Apply
          </Act>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns a rule as the form shows it: in a unit, empty without the rule. */
function written(value: number | null | undefined, unit: number): string {
  return value ? String(value / unit) : "";
}
