/**
 * What concerns a stream as a whole: export of a range, trim, retention, scheduled entries, rename, delete.
 *
 * What cannot be undone asks for the key of the stream.
 */
import { useState } from "preact/hooks";
import { useAction, useLoaded } from "../hooks";
import { type Name, shown } from "../names";
import { go, href } from "../router";
import { send } from "../server";
import { findStream, splitEntries, streamPath } from "../streams";
import { Confirm } from "../dialogs";
import { count, many } from "../format";
import { Outcome, Pending } from "../messages";
import { Act, Field, TextField, WhyOff } from "../ui";
import { ExportForm } from "./export_form";
import { Retention } from "./retention";
import { Scheduled } from "./scheduled";

interface Given {
  readonly streamKey: Name;
  readonly parameters: URLSearchParams;
}

export function ManageView({ streamKey }: Given) {
  const stream = useLoaded((signal) => findStream(streamKey, signal), "stream", 5_000);
  const length = stream.data?.length ?? 0;
  return (
    <>
      <Pending of={stream} what="the stream" />
      <div class="cards two">
        <ExportForm streamKey={streamKey} length={stream.data?.length} />
        <Trim streamKey={streamKey} length={length} onDone={stream.reload} />
        <Retention streamKey={streamKey} />
        <Scheduled streamKey={streamKey} />
        <Rename streamKey={streamKey} />
        <Delete streamKey={streamKey} length={length} groups={stream.data?.groups ?? 0} />
      </div>
    </>
  );
}

function Trim({ streamKey, length, onDone }: { streamKey: Name; length: number; onDone(): void }) {
  const [by, setBy] = useState<"max_length" | "min_id">("max_length");
  const [text, setText] = useState("");
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const isValid = by === "max_length" ? /^\d+$/.test(text) : /^\d+(-\d+)?$/.test(text);
  const preview = useLoaded<number | undefined>(async (signal) => {
    if (!isValid) return undefined;
    if (by === "max_length") return Math.max(0, length - Number(text));
    const parts = await splitEntries(streamKey, 1, { end: `(${text}` }, signal);
    return parts.reduce((sum, part) => sum + part.count, 0);
  }, `${by} ${text} ${length}`);
  const run = () => {
    setAsking(false);
    void action.run(async () => {
      const body = by === "max_length" ? { max_length: Number(text) } : { min_id: text };
      const reply = await send<{ trimmed: number }>("POST", streamPath(streamKey, "/entries:trim"), { body });
      onDone();
      return `${many(reply.trimmed, "entry", "entries")} removed.`;
    });
  };
  return (
    <section class="panel">
      <h2>Trim</h2>
      <p class="quiet">Removes the oldest entries for every reader.</p>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) setAsking(true);
        }}
      >
        <Field label="Keep">
          <select value={by} onChange={(event) => setBy(event.currentTarget.value as typeof by)}>
            <option value="max_length">newest entries</option>
            <option value="min_id">from an id on</option>
          </select>
        </Field>
        <TextField
          label={by === "max_length" ? "How many" : "Id"}
          class="mono short"
          value={text}
          onInput={(text) => setText(text.trim())}
        />
        <Act
          kind="danger"
          submits
          needs="admin"
          on={streamKey}
          off={isValid ? undefined : "Say what to keep first."}
        >
          Trim
        </Act>
      </form>
      <p aria-live="polite" class="quiet small">
        {preview.data !== undefined &&
          `Removes ${many(preview.data, "entry", "entries")} of ${count(length)}.`}
      </p>
      <WhyOff needs="admin" on={streamKey} />
      <Outcome action={action} />
      {isAsking && (
        <Confirm
          title="Trim this stream?"
          typed={shown(streamKey)}
          verb="Trim the stream"
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>
            {many(preview.data ?? 0, "entry disappears", "entries disappear")} for every reader. This cannot
            be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Rename({ streamKey }: { streamKey: Name }) {
  const [name, setName] = useState("");
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const existing = useLoaded(
    (signal) => (name === "" ? Promise.resolve(undefined) : findStream(name, signal)),
    name,
  );
  const run = () => {
    setAsking(false);
    void action.run(async () => {
      await send("POST", "/v1/command", { body: ["RENAME", streamKey, name] });
      go(href("manage", { key: name }), { replace: true });
      return undefined;
    });
  };
  const off =
    name === "" ? "Enter a key first." : name === streamKey ? "This is its key already." : undefined;
  return (
    <section class="panel">
      <h2>Rename</h2>
      <p class="quiet">Entries, groups and pending entries move to another key.</p>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) setAsking(true);
        }}
      >
        <TextField label="New key" class="mono" value={name} onInput={setName} />
        <Act kind="danger" submits needs="admin" on={streamKey} off={off}>
          Rename
        </Act>
      </form>
      {existing.data && (
        <p class="why">
          A stream with this key exists and has {many(existing.data.length, "entry", "entries")}. Renaming
          replaces it.
        </p>
      )}
      <WhyOff needs="admin" on={streamKey} />
      <Outcome action={action} />
      {isAsking && (
        <Confirm
          title="Rename this stream?"
          typed={shown(streamKey)}
          verb="Rename the stream"
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>
            Producers and consumers that use the old key do not find the stream any more.
            {existing.data &&
              ` The ${many(existing.data.length, "entry", "entries")} of ${name} are deleted.`}
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Delete({ streamKey, length, groups }: { streamKey: Name; length: number; groups: number }) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const run = () => {
    setAsking(false);
    void action.run(async () => {
      await send("DELETE", streamPath(streamKey));
      go(href("overview"));
      return undefined;
    });
  };
  return (
    <section class="panel">
      <h2>Delete</h2>
      <p class="quiet">Deletes the stream with its entries, groups and pending entries.</p>
      <Act kind="danger" needs="admin" on={streamKey} onClick={() => setAsking(true)}>
        Delete stream
      </Act>
      <WhyOff needs="admin" on={streamKey} />
      <Outcome action={action} />
      {isAsking && (
        <Confirm
          title="Delete this stream?"
          typed={shown(streamKey)}
          verb="Delete the stream"
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p class="why">
            {many(length, "entry", "entries")} and {many(groups, "group")} are deleted. This cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}
