/**
 * Export of a range as NDJSON or CSV, page by page, with a progress and a stop.
 *
 * The browser holds the file until it is complete, so an export has a largest size; `tailrace export` has none.
 */
import { useRef, useState } from "preact/hooks";
import { useAction } from "../hooks";
import { type Name, shown } from "../names";
import { type Entry, readEntries } from "../streams";
import { download } from "../clipboard";
import { bytes, count, many } from "../format";
import { Outcome } from "../messages";
import { Act, Field, TextField, WhyOff } from "../ui";
import { jsonOf } from "./snippets";

const BYTES_MAX = 256e6;
const PAGE = 1_000;

type Format = "ndjson" | "csv";

export function ExportForm({ streamKey, length }: { streamKey: Name; length: number | undefined }) {
  const [format, setFormat] = useState<Format>("ndjson");
  const [start, setStart] = useState("");
  const [end, setEnd] = useState("");
  const [progress, setProgress] = useState<number | undefined>();
  const stop = useRef(new AbortController());
  const action = useAction();
  const run = () =>
    action.run(async () => {
      stop.current = new AbortController();
      try {
        return await exported(
          streamKey,
          format,
          { start: start || "-", end: end || "+" },
          stop.current.signal,
          setProgress,
        );
      } finally {
        setProgress(undefined);
      }
    });
  return (
    <section class="panel">
      <h2>Export</h2>
      <p class="quiet">
        Downloads a range, oldest first.
        {length !== undefined && ` ${many(length, "entry", "entries")} in the stream.`}
      </p>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Field label="Format">
          <select value={format} onChange={(event) => setFormat(event.currentTarget.value as Format)}>
            <option value="ndjson">NDJSON</option>
            <option value="csv">CSV</option>
          </select>
        </Field>
        <TextField
          label="From id"
          class="mono short"
          placeholder="first"
          value={start}
          onInput={(text) => setStart(text.trim())}
        />
        <TextField
          label="To id"
          class="mono short"
          placeholder="last"
          value={end}
          onInput={(text) => setEnd(text.trim())}
        />
        {progress === undefined ? (
          <Act
            kind="main"
            submits
            needs="read"
            on={streamKey}
            off={length === 0 ? "The stream is empty." : undefined}
          >
            Export
          </Act>
        ) : (
          <button type="button" onClick={() => stop.current.abort()}>
            Stop at {count(progress)}
          </button>
        )}
      </form>
      <WhyOff needs="read" on={streamKey} />
      <Outcome action={action} />
    </section>
  );
}

/** Reads the range and downloads it. Returns what was exported, in words. */
async function exported(
  key: Name,
  format: Format,
  range: { start: string; end: string },
  signal: AbortSignal,
  report: (entries: number) => void,
): Promise<string> {
  const table = new Table();
  const lines: string[] = [];
  let entries = 0;
  let size = 0;
  let start: string | null = range.start;
  while (start !== null && !signal.aborted && size < BYTES_MAX) {
    const page: { entries: readonly Entry[]; next: string | null } = await readEntries(key, {
      start,
      end: range.end,
      order: "asc",
      count: PAGE,
    });
    for (const entry of page.entries) {
      const line = format === "csv" ? table.row(entry) : `${JSON.stringify(JSON.parse(jsonOf(entry)))}\n`;
      lines.push(line);
      size += line.length;
    }
    entries += page.entries.length;
    report(entries);
    start = page.next === null ? null : `(${page.next}`;
  }
  const head = format === "csv" ? [table.head()] : [];
  const type = format === "csv" ? "text/csv" : "application/x-ndjson";
  download(`${shown(key).replace(/[^\w.-]+/g, "_")}.${format}`, [...head, ...lines], type);
  const isWhole = start === null;
  return `${many(entries, "entry", "entries")} exported (${bytes(size)})${isWhole ? "" : "; the range has more"}.`;
}

/** Rows of CSV whose columns are all fields that appear. A row ends early if later columns are missing. */
class Table {
  readonly #columns = new Map<string, number>();

  row(entry: Entry): string {
    const cells: string[] = [entry.id];
    for (const [name, value] of entry.pairs) {
      if (!this.#columns.has(name)) this.#columns.set(name, this.#columns.size + 1);
      cells[this.#columns.get(name)!] = value;
    }
    return `${Array.from(cells, quoted).join(",")}\r\n`;
  }

  head(): string {
    return `${["id", ...this.#columns.keys()].map(quoted).join(",")}\r\n`;
  }
}

/** Quotes a cell. A spreadsheet would run a text that begins like a formula, so such a text gets an apostrophe. */
function quoted(text: string | undefined): string {
  if (text === undefined) return "";
  const safe = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
