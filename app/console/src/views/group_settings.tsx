/**
 * The settings of a group: what the server applies to each delivery, such as where dead letters go.
 *
 * The form comes from the document of the API, so it has each setting that the server knows, with its explanation.
 */
import { useState } from "preact/hooks";
import { Dialog } from "../dialogs";
import { count, many } from "../format";
import { type Action, useAction, useLoaded } from "../hooks";
import { Outcome, Pending } from "../messages";
import { type Name, shown } from "../names";
import { href } from "../router";
import { send } from "../server";
import { type Group, groupPath } from "../streams";
import { duration } from "../time";
import { Act, TextField } from "../ui";

interface Given {
  readonly streamKey: Name;
  readonly group: Group;
  onDone(): void;
}

const TARGET = "dead_letter_stream";

export function GroupSettings({ streamKey, group, onDone }: Given) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const apply = (body: Readonly<Record<string, unknown>>) =>
    void action.run(async () => {
      await send("POST", groupPath(streamKey, group.name, ":configure"), { body });
      // A refused form stays open, with what the reader has typed.
      setAsking(false);
      onDone();
      return `The settings of ${shown(group.name)} apply from the next delivery on.`;
    });
  const close = () => {
    setAsking(false);
    if (action.error) action.clear();
  };
  const rows = Object.entries(group.settings).filter(([name]) => name !== TARGET);
  return (
    <>
      <div class="subject">
        <h3>Settings</h3>
        <Act needs="admin" on={streamKey} onClick={() => setAsking(true)}>
          Change settings
        </Act>
      </div>
      {rows.length === 0 && group.deadLetterStream === undefined && (
        <p class="quiet">None: the group delivers an entry until a consumer acknowledges it.</p>
      )}
      <dl class="facts settings">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{inWords(name)}</dt>
            <dd>{valueInWords(name, value)}</dd>
          </div>
        ))}
        {group.deadLetterStream !== undefined && (
          <div>
            <dt>Dead letters go to</dt>
            <dd>
              <a href={href("stream", { key: group.deadLetterStream })}>{shown(group.deadLetterStream)}</a>
            </dd>
          </div>
        )}
        {group.held !== undefined && (
          <div>
            <dt>Held back by the order</dt>
            <dd>
              {many(group.held, "entry", "entries")}, {many(group.keysInFlight ?? 0, "value")} in flight
            </dd>
          </div>
        )}
        {group.lagMs !== undefined && (
          <div>
            <dt>Oldest unread entry</dt>
            <dd>
              {duration(group.lagMs)} old
              {isLate(group) && <strong>, above the max lag</strong>}
            </dd>
          </div>
        )}
        {(group.deadLetters > 0 || group.deadLetterStream !== undefined) && (
          <div>
            <dt>Dead letters so far</dt>
            <dd>{count(group.deadLetters)}</dd>
          </div>
        )}
      </dl>
      {!isAsking && <Outcome action={action} />}
      {isAsking && <Form group={group} action={action} onApply={apply} onClose={close} />}
    </>
  );
}

/** Returns whether the oldest unread entry is so old that the server warns. */
function isLate({ lagMs, settings }: Group): boolean {
  const most = settings["max_lag_ms"];
  return lagMs !== undefined && typeof most === "number" && lagMs >= most;
}

/** Returns the name of a setting for people: `claim_min_idle_ms` is `Claim min idle`, its value a duration. */
function inWords(name: string): string {
  const words = name.replace(/_ms$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueInWords(name: string, value: unknown): string {
  if (typeof value === "number") return name.endsWith("_ms") ? duration(value) : count(value);
  if (typeof value === "string") return value;
  return Object.entries(value as object)
    .map(([part, inner]) => `${inWords(part).toLowerCase()} ${valueInWords(part, inner)}`)
    .join(", ");
}

/** An input of the form. A setting with several parts has an input for each, such as `backoff.initial_ms`. */
interface Setting {
  readonly name: string;
  readonly description: string;
  readonly kind: "integer" | "number" | "text";
}

interface Property {
  readonly description?: string;
  readonly type?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Property[];
}

type Schemas = Readonly<Record<string, { readonly properties: Readonly<Record<string, Property>> }>>;

/** Returns the settings that the server knows. */
async function settingsOf(signal: AbortSignal): Promise<Setting[]> {
  const { components } = await send<{ components: { schemas: Schemas } }>("GET", "/openapi.json", { signal });
  return inputsOf(components.schemas, "GroupSettingsBody").filter(({ name }) => name !== "encoding");
}

function inputsOf(schemas: Schemas, schema: string, prefix = ""): Setting[] {
  return Object.entries(schemas[schema]?.properties ?? {}).flatMap(([name, property]) => {
    const forms = [property, ...(property.anyOf ?? [])];
    const inner = forms
      .find(({ $ref }) => $ref !== undefined)
      ?.$ref?.split("/")
      .at(-1);
    if (inner !== undefined) return inputsOf(schemas, inner, `${prefix}${name}.`);
    const kind = (["integer", "number"] as const).find((each) => forms.some(({ type }) => type === each));
    const description = (property.description ?? "").replaceAll("`", "");
    return [{ name: prefix + name, description, kind: kind ?? ("text" as const) }];
  });
}

interface FormProps {
  readonly group: Group;
  readonly action: Action;
  onApply(body: Readonly<Record<string, unknown>>): void;
  onClose(): void;
}

function Form({ group, action, onApply, onClose }: FormProps) {
  const known = useLoaded(settingsOf, "settings");
  const [given, setGiven] = useState<Readonly<Record<string, string>>>(() => written(group));
  const before = written(group);
  const settings = known.data ?? [];
  const changed = settings.filter(({ name }) => (given[name] ?? "") !== (before[name] ?? ""));
  const wrong = changed.find(({ name, kind }) => !ALLOWED[kind].test(given[name] ?? ""));
  const off =
    wrong !== undefined
      ? `${wrong.name} must be a ${wrong.kind === "integer" ? "whole " : ""}number.`
      : changed.length === 0
        ? "Change a setting first."
        : undefined;
  const apply = () => {
    const named = new Set(changed.map(({ name }) => name.split(".")[0] as string));
    onApply(Object.fromEntries([...named].map((name) => [name, valueOf(name, settings, given)])));
  };
  return (
    <Dialog title={`Settings of ${shown(group.name)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) apply();
        }}
      >
        <Pending of={known} what="the settings" />
        {settings.map(({ name, description, kind }) => (
          <TextField
            key={name}
            label={name}
            hint={description + inUnits(name, given[name] ?? "")}
            class={kind === "text" ? "wide mono" : "mono"}
            inputMode={kind === "text" ? "text" : "numeric"}
            placeholder="not set"
            value={given[name] ?? ""}
            onInput={(text) => setGiven({ ...given, [name]: text })}
          />
        ))}
        {wrong !== undefined && <p class="why">{off}</p>}
        <Outcome action={action} />
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="main" submits off={off}>
            Apply
          </Act>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns the duration that a number of milliseconds is, as a sentence; nothing for any other setting. */
function inUnits(name: string, text: string): string {
  return name.endsWith("_ms") && /^\d{4,15}$/.test(text) ? ` This is ${duration(Number(text))}.` : "";
}

const ALLOWED = { integer: /^\d{0,15}$/, number: /^\d{0,15}(\.\d+)?$/, text: /^/ } as const;

/** Returns what the form has for a setting: null without a value, an object if the setting has several parts. */
function valueOf(
  name: string,
  settings: readonly Setting[],
  given: Readonly<Record<string, string>>,
): unknown {
  const inputs = settings.filter((each) => each.name.split(".")[0] === name);
  const parts = inputs.flatMap((each) => {
    const text = given[each.name] ?? "";
    return text === "" ? [] : [[each.name, each.kind === "text" ? text : Number(text)] as const];
  });
  if (parts.length === 0) return null;
  if (parts[0]![0] === name) return parts[0]![1];
  return Object.fromEntries(parts.map(([path, value]) => [path.slice(name.length + 1), value]));
}

/** Returns the settings as the form shows them. */
function written(group: Group): Record<string, string> {
  const texts = Object.entries(group.settings).flatMap(([name, value]) =>
    typeof value === "object" && value !== null
      ? Object.entries(value).map(([part, inner]) => [`${name}.${part}`, String(inner)])
      : [[name, String(value)]],
  );
  const target = group.deadLetterStream;
  return {
    ...Object.fromEntries(texts),
    ...(typeof target === "string" ? { [TARGET]: target } : {}),
  } as Record<string, string>;
}
