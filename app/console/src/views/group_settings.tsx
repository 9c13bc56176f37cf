/**
 * The settings of a group: what the server applies to each delivery, such as where dead letters go.
 *
 * The form comes from the document of the API, so it has each setting that the server knows, with its explanation.
 */
import { useState } from "preact/hooks";
import { Dialog } from "../dialogs";
import { count } from "../format";
import { useAction, useLoaded } from "../hooks";
import { Outcome, Pending } from "../messages";
import { type Name, shown } from "../names";
import { href } from "../router";
import { send } from "../server";
import { type Group, groupPath } from "../streams";
import { duration } from "../time";
import { Act, Field } from "../ui";

interface Given {
  readonly streamKey: Name;
  readonly group: Group;
  onDone(): void;
}

const TARGET = "dead_letter_stream";

export function GroupSettings({ streamKey, group, onDone }: Given) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const apply = (body: Readonly<Record<string, unknown>>) => {
    setAsking(false);
    void action.run(async () => {
      await send("POST", groupPath(streamKey, group.name, ":configure"), { body });
      onDone();
      return `The settings of ${shown(group.name)} apply from the next delivery on.`;
    });
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
        {(group.deadLetters > 0 || group.deadLetterStream !== undefined) && (
          <div>
            <dt>Dead letters so far</dt>
            <dd>{count(group.deadLetters)}</dd>
          </div>
        )}
      </dl>
      <Outcome action={action} />
      {isAsking && <Form group={group} onApply={apply} onClose={() => setAsking(false)} />}
    </>
  );
}

/** Returns the name of a setting for people: `claim_min_idle_ms` is `Claim min idle`, its value a duration. */
function inWords(name: string): string {
  const words = name.replace(/_ms$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueInWords(name: string, value: unknown): string {
  if (typeof value === "number") return name.endsWith("_ms") ? duration(value) : count(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface Setting {
  readonly name: string;
  readonly description: string;
  readonly isNumber: boolean;
}

interface Property {
  readonly description?: string;
  readonly type?: string;
  readonly anyOf?: readonly { readonly type?: string }[];
}

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: Record<string, Property> }>>;
  };
}

/** Returns the settings that the server knows. */
async function settingsOf(signal: AbortSignal): Promise<Setting[]> {
  const { components } = await send<Document>("GET", "/openapi.json", { signal });
  return Object.entries(components.schemas["GroupSettingsBody"]?.properties ?? {})
    .filter(([name]) => name !== "encoding")
    .map(([name, property]) => ({
      name,
      description: (property.description ?? "").replaceAll("`", ""),
      isNumber: [property, ...(property.anyOf ?? [])].some(({ type }) => type === "integer"),
    }));
}

interface FormProps {
  readonly group: Group;
  onApply(body: Readonly<Record<string, unknown>>): void;
  onClose(): void;
}

function Form({ group, onApply, onClose }: FormProps) {
  const known = useLoaded(settingsOf, "settings");
  const [given, setGiven] = useState<Readonly<Record<string, string>>>(() => written(group));
  const before = written(group);
  const settings = known.data ?? [];
  const changed = settings.filter(({ name }) => (given[name] ?? "") !== (before[name] ?? ""));
  const wrong = changed.find(({ name, isNumber }) => isNumber && !/^\d{0,15}$/.test(given[name] ?? ""));
  const off =
    wrong !== undefined
      ? `${wrong.name} must be a whole number.`
      : changed.length === 0
        ? "Change a setting first."
        : undefined;
  const apply = () => {
    const values = changed.map(({ name, isNumber }) => {
      const text = given[name] ?? "";
      return [name, text === "" ? null : isNumber ? Number(text) : text] as const;
    });
    onApply(Object.fromEntries(values));
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
        {settings.map(({ name, description, isNumber }) => (
          <Field key={name} label={name} hint={description}>
            <input
              class={isNumber ? "mono" : "wide mono"}
              inputMode={isNumber ? "numeric" : "text"}
              placeholder="not set"
              value={given[name] ?? ""}
              onInput={(event) => setGiven({ ...given, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
        {wrong !== undefined && <p class="why">{off}</p>}
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

/** Returns the settings as the form shows them. */
function written(group: Group): Record<string, string> {
  const texts = Object.entries(group.settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const target = group.deadLetterStream;
  return {
    ...Object.fromEntries(texts),
    ...(typeof target === "string" ? { [TARGET]: target } : {}),
  } as Record<string, string>;
}
