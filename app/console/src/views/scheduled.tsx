/**
 * The scheduled entries of a stream: appended with a delay, and not visible to readers yet. Each can be cancelled.
 *
 * The server appends them when their time comes; this module only lists and cancels them.
 */
import { useAction, useLoaded } from "../hooks";
import { Outcome } from "../messages";
import type { Name } from "../names";
import { send } from "../server";
import { entryOf, streamPath } from "../streams";
import { Act, Time } from "../ui";
import { many } from "../format";

const SHOWN = 50;
const EVERY_MS = 5_000;
const FIELDS_SHOWN = 3;

interface Row {
  readonly scheduled_id: string;
  readonly deliver_at_ms: number;
  readonly pairs?: unknown;
  readonly encoding?: "base64" | null;
}

interface Page {
  readonly scheduled: readonly Row[];
  readonly next: string | null;
}

/** Returns the next entries. It asks for them only if the stream has any: a gateway never has. */
async function scheduledOf(key: Name, signal: AbortSignal): Promise<Page> {
  const { scheduled } = await send<{ scheduled?: number }>("GET", streamPath(key), { signal });
  if (!scheduled) return { scheduled: [], next: null };
  const query = { limit: SHOWN, shape: "pairs" };
  return send<Page>("GET", streamPath(key, "/scheduled"), { query, signal });
}

export function Scheduled({ streamKey }: { streamKey: Name }) {
  const page = useLoaded((signal) => scheduledOf(streamKey, signal), "scheduled", EVERY_MS);
  const action = useAction();
  const rows = page.data?.scheduled ?? [];
  const cancel = (row: Row) =>
    void action.run(async () => {
      await send("DELETE", streamPath(streamKey, `/scheduled/${encodeURIComponent(row.scheduled_id)}`));
      page.reload();
      return "Cancelled: the entry is not appended.";
    });
  return (
    <section class="panel" aria-label="Scheduled entries">
      <h2>Scheduled entries</h2>
      <p class="quiet">
        {page.data === undefined
          ? page.error === undefined && "Loading"
          : rows.length === 0
            ? "None. An entry that is appended with a delay waits here until its time."
            : `${many(rows.length, "entry", "entries")}${page.data?.next ? " shown, and more later" : ""}, next one first.`}
      </p>
      {rows.length > 0 && (
        <dl class="rows-list">
          {rows.map((row) => (
            <div key={row.scheduled_id}>
              <dt>
                <Time ms={row.deliver_at_ms} />
              </dt>
              <dd>
                <span class="mono">{textOf(row)}</span>{" "}
                <Act needs="append" on={streamKey} onClick={() => cancel(row)}>
                  Cancel
                </Act>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Outcome action={action} />
    </section>
  );
}

/** Returns the first fields of an entry in one line. */
function textOf(row: Row): string {
  const { pairs } = entryOf({ id: row.scheduled_id, pairs: row.pairs, encoding: row.encoding });
  const shown = pairs.slice(0, FIELDS_SHOWN).map(([name, value]) => `${name} ${value}`);
  return shown.join(", ") + (pairs.length > FIELDS_SHOWN ? ", …" : "");
}
