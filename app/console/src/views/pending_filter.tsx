/**
 * The form that chooses which pending entries are listed. It changes the URL; `pending.tsx` reads it.
 */
import { useState } from "preact/hooks";
import { type Name, readName, segment } from "../names";
import { go, href } from "../router";
import { Field, TextField } from "../ui";
import type { Given } from "./pending";

export function Filter({
  streamKey,
  groups,
  group,
  parameters,
}: Given & { groups: readonly Name[]; group: Name }) {
  const consumer = readName(parameters, "consumer");
  const [who, setWho] = useState(typeof consumer === "string" ? consumer : "");
  const [idle, setIdle] = useState(parameters.get("idle") ?? "");
  const [deliveries, setDeliveries] = useState(parameters.get("deliveries") ?? "");
  const show = (to: Name) =>
    go(href("pending", { key: streamKey, group: to, consumer: who, idle, deliveries }));
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        show(group);
      }}
    >
      <Field label="Group">
        <select
          value={segment(group)}
          onChange={(event) => show(groups.find((name) => segment(name) === event.currentTarget.value)!)}
        >
          {groups.map((name) => (
            <option key={segment(name)} value={segment(name)}>
              {typeof name === "string" ? name : segment(name)}
            </option>
          ))}
        </select>
      </Field>
      <TextField label="Consumer" class="short" placeholder="any" value={who} onInput={setWho} />
      <TextField
        label="Idle for at least (s)"
        class="short"
        inputMode="numeric"
        placeholder="0"
        value={idle}
        onInput={setIdle}
      />
      <TextField
        label="Deliveries at least"
        class="short"
        inputMode="numeric"
        placeholder="1"
        value={deliveries}
        onInput={setDeliveries}
      />
      <button type="submit">Filter</button>
    </form>
  );
}
