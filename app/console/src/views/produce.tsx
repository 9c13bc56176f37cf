/**
 * Appending entries: one by its fields or as JSON, or many at once from NDJSON or CSV.
 *
 * Many entries go in one request, which the server appends whole or not at all.
 */
import { useMemo, useState } from "preact/hooks";
import { useAction } from "../hooks";
import { Outcome } from "../messages";
import type { Name } from "../names";
import { href } from "../router";
import { send } from "../server";
import { type Entry, streamPath } from "../streams";
import { Act, Field, TextField, Time, WhyOff } from "../ui";
import { DelayField, delayMember, whyNoDelay } from "./delay";
import { takeDraft } from "./draft";
import { Many } from "./produce_many";

type Form = "fields" | "json" | "many";
type Pair = readonly [string, string];

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

const FORMS: readonly (readonly [Form, string])[] = [
  ["fields", "Fields"],
  ["json", "JSON"],
  ["many", "Many at once"],
];

export function ProduceView({ streamKey }: Given) {
  const draft = useMemo(takeDraft, []);
  const [form, setForm] = useState<Form>("fields");
  return (
    <>
      <div class="bar">
        <span class="choice" role="group" aria-label="How to write the entry">
          {FORMS.map(([each, name]) => (
            <button key={each} type="button" aria-pressed={each === form} onClick={() => setForm(each)}>
              {name}
            </button>
          ))}
        </span>
        {draft && <span class="quiet small">Copied from {draft.id}; change it before you append it.</span>}
      </div>
      <WhyOff needs="append" on={streamKey} />
      {form === "many" ? (
        <Many streamKey={streamKey} />
      ) : (
        <One key={form} form={form} streamKey={streamKey} draft={draft} />
      )}
    </>
  );
}

function One({ form, streamKey, draft }: { form: Form; streamKey: Name; draft: Entry | undefined }) {
  const [pairs, setPairs] = useState<readonly Pair[]>(draft?.pairs ?? [["", ""]]);
  const [json, setJson] = useState(() =>
    JSON.stringify(Object.fromEntries(draft?.pairs ?? [["rider", "Castilla"]]), null, 2),
  );
  const [id, setId] = useState("");
  const [delay, setDelay] = useState("");
  const [idempotencyKey, setIdempotencyKey] = useState("");
  const [producer, setProducer] = useState("console");
  const [appended, setAppended] = useState<Appended | undefined>();
  const action = useAction();
  const encoding = draft?.encoding === undefined ? {} : { encoding: draft.encoding };
  const append = () =>
    action.run(async () => {
      setAppended(undefined);
      const content =
        form === "json"
          ? { fields: fieldsOf(json) }
          : { pairs: pairs.filter(([name]) => name !== ""), ...encoding };
      const headers: Record<string, string> =
        idempotencyKey === "" ? {} : { "Idempotency-Key": idempotencyKey, "Producer-Id": producer };
      const body = { ...content, ...delayMember(delay), ...(id === "" ? {} : { id }) };
      setAppended(await send<Appended>("POST", streamPath(streamKey, "/entries"), { body, headers }));
      return undefined;
    });
  const isEmpty = form === "fields" && pairs.every(([name]) => name === "");
  const off = isEmpty ? "Name a field first." : whyNoDelay(delay);
  return (
    <form
      class="panel produce"
      onSubmit={(event) => {
        event.preventDefault();
        if (off === undefined) void append();
      }}
    >
      {form === "fields" ? (
        <Pairs pairs={pairs} onChange={setPairs} />
      ) : (
        <Field label="Fields as JSON" hint="An object with strings as values.">
          <textarea
            class="wide mono"
            rows={8}
            spellcheck={false}
            value={json}
            onInput={(event) => setJson(event.currentTarget.value)}
          />
        </Field>
      )}
      <details>
        <summary>Id, delay and idempotency key</summary>
        <div class="toolbar">
          <TextField
            label="Id"
            hint="By default the server chooses it."
            class="mono"
            placeholder="1692632086370-0"
            value={id}
            onInput={setId}
          />
          <DelayField
            label="Delay (s)"
            hint="Appended after this time; until then nobody sees the entry."
            value={delay}
            onInput={setDelay}
          />
          <TextField
            label="Idempotency key"
            hint="A repeated append with the same key appends nothing."
            class="mono"
            value={idempotencyKey}
            onInput={setIdempotencyKey}
          />
          <TextField
            label="Producer"
            hint="The key belongs to this producer."
            class="mono"
            value={producer}
            onInput={setProducer}
          />
        </div>
      </details>
      <div class="bar">
        <Act kind="main" submits needs="append" on={streamKey} off={off}>
          Append
        </Act>
        {appended && <Where streamKey={streamKey} appended={appended} />}
      </div>
      <Outcome action={action} />
    </form>
  );
}

/** The reply to an append. With a delay, the entry gets its id later. */
interface Appended {
  readonly id?: string;
  readonly deliver_at_ms?: number;
}

function Where({ streamKey, appended }: { streamKey: Name; appended: Appended }) {
  const { id, deliver_at_ms: at } = appended;
  return (
    <span class="done" role="status">
      {id !== undefined ? (
        <>
          Appended as{" "}
          <a class="mono" href={href("entry", { key: streamKey, id })}>
            {id}
          </a>
        </>
      ) : (
        <>
          <a href={href("manage", { key: streamKey })}>Scheduled</a> for{" "}
          {at !== undefined && <Time ms={at} />}
        </>
      )}
    </span>
  );
}

function Pairs({ pairs, onChange }: { pairs: readonly Pair[]; onChange(pairs: readonly Pair[]): void }) {
  const change = (at: number, pair: Pair) =>
    onChange(pairs.map((each, index) => (index === at ? pair : each)));
  return (
    <fieldset class="pairs-form">
      <legend>Fields</legend>
      {pairs.map(([name, value], index) => (
        <div class="bar" key={index}>
          <input
            class="mono"
            aria-label={`Name of field ${index + 1}`}
            placeholder="name"
            value={name}
            onInput={(event) => change(index, [event.currentTarget.value, value])}
          />
          <textarea
            class="mono grow"
            rows={Math.min(8, 1 + (value.match(/\n/g)?.length ?? 0))}
            aria-label={`Value of field ${index + 1}`}
            placeholder="value"
            value={value}
            onInput={(event) => change(index, [name, event.currentTarget.value])}
          />
          <button
            type="button"
            aria-label={`Remove field ${index + 1}`}
            disabled={pairs.length === 1}
            onClick={() => onChange(pairs.filter((_, each) => each !== index))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...pairs, ["", ""]])}>
        Add a field
      </button>
    </fieldset>
  );
}

function fieldsOf(json: string): Record<string, string> {
  const fields = JSON.parse(json) as unknown;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new Error('The fields must be an object, such as {"rider": "Castilla"}.');
  }
  const wrong = Object.entries(fields).find(([, value]) => typeof value !== "string");
  if (wrong !== undefined) {
    throw new Error(
      `The value of ${wrong[0]} is ${JSON.stringify(wrong[1])}; it must be a string. Put it in quotes.`,
    );
  }
  return fields as Record<string, string>;
}
