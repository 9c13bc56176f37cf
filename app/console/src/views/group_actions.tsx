/** Creating a group, moving it with a preview of what it would read again, and deleting it. */
import { useState } from "preact/hooks";
import { useAction, useLoaded } from "../hooks";
import { type Name, fitsUrl, shown } from "../names";
import { href } from "../router";
import { send } from "../server";
import { type Group, type Stream, groupPath, splitEntries } from "../streams";
import { readTime, useZone, written } from "../time";
import { Confirm, Dialog } from "../dialogs";
import { count, many } from "../format";
import { Outcome } from "../messages";
import { Act, TextField, WhyOff } from "../ui";

type Start = "new" | "all" | "place";

interface CreateProps {
  readonly streamKey: Name;
  readonly isFirst: boolean;
  onDone(): void;
}

export function CreateGroup({ streamKey, isFirst, onDone }: CreateProps) {
  const [name, setName] = useState("");
  const [start, setStart] = useState<Start>("all");
  const [place, setPlace] = useState("");
  const action = useAction();
  const create = () =>
    action.run(async () => {
      await send("PUT", groupPath(streamKey, name), { body: { after: afterOf(start, place) } });
      setName("");
      onDone();
      return `The group ${shown(name)} exists now.`;
    });
  const off = !fitsUrl(name)
    ? "Enter a name first."
    : start === "place" && place === ""
      ? "Enter an id first."
      : undefined;
  return (
    <>
      {isFirst && (
        <p class="empty">
          This stream has no groups. A group shares the entries of a stream among its consumers, and keeps
          each entry pending until a consumer acknowledges it.
        </p>
      )}
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) void create();
        }}
      >
        <input
          aria-label="Name of the new group"
          placeholder="New group"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <select
          aria-label="Which entries it receives"
          value={start}
          onChange={(event) => setStart(event.currentTarget.value as Start)}
        >
          <option value="all">all entries</option>
          <option value="new">only new entries</option>
          <option value="place">entries after an id</option>
        </select>
        {start === "place" && (
          <input
            class="mono"
            aria-label="Id"
            placeholder="1692632086370-0"
            value={place}
            onInput={(event) => setPlace(event.currentTarget.value)}
          />
        )}
        <Act submits needs="admin" on={streamKey} off={off}>
          Create group
        </Act>
        <WhyOff needs="admin" on={streamKey} />
      </form>
      <Outcome action={action} />
    </>
  );
}

function afterOf(start: Start, place: string): string {
  return start === "all" ? "0" : start === "new" ? "$" : place.trim();
}

interface ActionProps {
  readonly streamKey: Name;
  readonly group: Group;
  readonly stream: Stream | undefined;
  onDone(): void;
}

export function GroupActions({ streamKey, group, stream, onDone }: ActionProps) {
  const [asked, setAsked] = useState<"move" | "delete" | undefined>();
  const action = useAction();
  const close = () => setAsked(undefined);
  const remove = () => {
    close();
    void action.run(async () => {
      await send("DELETE", groupPath(streamKey, group.name));
      onDone();
      return `The group ${shown(group.name)} is deleted.`;
    });
  };
  const move = (after: string) => {
    close();
    void action.run(async () => {
      await send("POST", groupPath(streamKey, group.name, ":setid"), { body: { after } });
      onDone();
      return `The group ${shown(group.name)} is at ${after} now.`;
    });
  };
  return (
    <>
      <div class="bar">
        <a class="button" href={href("pending", { key: streamKey, group: group.name })}>
          Pending entries
        </a>
        <a class="button" href={href("consume", { key: streamKey, group: group.name })}>
          Consume in the page
        </a>
        <Act needs="admin" on={streamKey} onClick={() => setAsked("move")}>
          Set position
        </Act>
        <Act kind="danger" needs="admin" on={streamKey} onClick={() => setAsked("delete")}>
          Delete group
        </Act>
      </div>
      <Outcome action={action} />
      {asked === "move" && (
        <Move streamKey={streamKey} group={group} stream={stream} onMove={move} onClose={close} />
      )}
      {asked === "delete" && (
        <Confirm
          title="Delete this group?"
          typed={shown(group.name)}
          verb="Delete the group"
          onConfirm={remove}
          onClose={close}
        >
          {group.pending > 0 ? (
            <p class="why">
              {many(group.pending, "entry is", "entries are")} pending in this group. The group forgets them:
              no consumer can acknowledge or claim them afterwards.
            </p>
          ) : (
            <p>Nothing is pending in this group. Its position is lost.</p>
          )}
        </Confirm>
      )}
    </>
  );
}

interface MoveProps {
  readonly streamKey: Name;
  readonly group: Group;
  readonly stream: Stream | undefined;
  onMove(after: string): void;
  onClose(): void;
}

/** The dialog that moves a group. It counts the entries that the group would receive from there. */
function Move({ streamKey, group, stream, onMove, onClose }: MoveProps) {
  const [zone] = useZone();
  const [text, setText] = useState("");
  const ms = readTime(text, zone);
  const after = text === "" ? "" : ms === undefined ? text.trim() : String(ms);
  const isPlace = after === "$" || /^\d+(-\d+)?$/.test(after);
  const preview = useLoaded<number | undefined>(async (signal) => {
    if (!isPlace) return undefined;
    if (after === "$" || stream === undefined) return 0;
    const range = { start: after === "0" ? "-" : `(${after}` };
    const parts = await splitEntries(streamKey, 1, range, signal);
    return parts.reduce((sum, part) => sum + part.count, 0);
  }, after);
  return (
    <Dialog title={`Set the position of ${shown(group.name)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isPlace) onMove(after);
        }}
      >
        <TextField
          label={`Deliver the entries after this id or time (${zone === "utc" ? "UTC" : "local"})`}
          hint={`0 for all entries, $ for new entries only. Now at ${group.lastDeliveredId}`}
          class="wide mono"
          value={text}
          placeholder={written(Date.now(), zone, false)}
          onInput={setText}
        />
        <p aria-live="polite">
          {!isPlace
            ? "Enter an id or a time to see what the group would receive."
            : preview.data === undefined
              ? "Counting"
              : `The group would receive ${many(preview.data, "entry", "entries")} of ${count(stream?.length ?? 0)}. Pending entries stay pending.`}
        </p>
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="main" submits off={isPlace ? undefined : "Enter an id or a time first."}>
            Set position
          </Act>
        </div>
      </form>
    </Dialog>
  );
}
