/**
 * The form for many entries: pasted NDJSON or CSV, sent in one request that the server appends whole or not at all.
 */
import { useMemo, useState } from "preact/hooks";
import { many } from "../format";
import { useAction } from "../hooks";
import { Outcome } from "../messages";
import type { Name } from "../names";
import { send } from "../server";
import { streamPath } from "../streams";
import { Act, Field } from "../ui";
import { type Bulk, readBulk } from "./bulk";

export function Many({ streamKey }: { streamKey: Name }) {
  const [text, setText] = useState("");
  const action = useAction();
  const bulk: Bulk = useMemo(() => readBulk(text), [text]);
  const append = () =>
    action.run(async () => {
      const reply = await send<{ count: number; first_id: string; last_id: string }>(
        "POST",
        streamPath(streamKey, "/entries:import"),
        {
          body: bulk.lines.join("\n"),
          headers: { "Content-Type": "application/x-ndjson" },
          timeoutMs: 60_000,
        },
      );
      setText("");
      return `${many(reply.count, "entry", "entries")} appended, from ${reply.first_id} to ${reply.last_id}.`;
    });
  const off = bulk.error ?? (bulk.lines.length === 0 ? "Paste entries first." : undefined);
  return (
    <form
      class="panel produce"
      onSubmit={(event) => {
        event.preventDefault();
        if (off === undefined) void append();
      }}
    >
      <Field
        label="Entries as NDJSON or CSV"
        hint="NDJSON: an object of strings on each line. CSV: the first line names the fields."
      >
        <textarea
          class="wide mono"
          rows={12}
          spellcheck={false}
          placeholder={"rider,speed\nCastilla,30.2\nNorem,28.8"}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <p aria-live="polite" class={bulk.error && text !== "" ? "why" : "quiet"}>
        {text === ""
          ? "Nothing pasted yet."
          : (bulk.error ?? `${many(bulk.lines.length, "entry", "entries")} read as ${bulk.format}.`)}
      </p>
      <div class="bar">
        <Act kind="main" submits needs="append" on={streamKey} off={off}>
          Append all
        </Act>
      </div>
      <Outcome action={action} />
    </form>
  );
}
