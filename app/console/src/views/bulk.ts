/** Pasted text as lines of NDJSON. The text is NDJSON if it begins with a brace, otherwise CSV (RFC 4180). */

export interface Bulk {
  readonly format: "NDJSON" | "CSV";
  readonly lines: readonly string[];
  /** What is wrong, with its line. */
  readonly error?: string | undefined;
}

/** Reads pasted entries. It never converts a value: values of CSV are text. */
export function readBulk(text: string): Bulk {
  if (text.trimStart().startsWith("{")) return readNdjson(text);
  return readCsv(text);
}

function readNdjson(text: string): Bulk {
  const lines: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const wrong = complaint(line);
    if (wrong !== undefined) return { format: "NDJSON", lines: [], error: `Line ${index + 1}: ${wrong}` };
    lines.push(line);
  }
  return { format: "NDJSON", lines };
}

function complaint(line: string): string | undefined {
  try {
    const fields = JSON.parse(line) as unknown;
    if (typeof fields !== "object" || fields === null || Array.isArray(fields))
      return "this is not an object";
    const wrong = Object.entries(fields).find(([, value]) => typeof value !== "string");
    return wrong && `the value of ${wrong[0]} is not a string`;
  } catch {
    return "this is not JSON";
  }
}

function readCsv(text: string): Bulk {
  const rows = rowsOf(text);
  const [names, ...entries] = rows;
  if (names === undefined) return { format: "CSV", lines: [] };
  if (new Set(names).size < names.length || names.includes("")) {
    return { format: "CSV", lines: [], error: "Line 1: each column needs a name of its own" };
  }
  const wrong = entries.findIndex((row) => row.length !== names.length);
  if (wrong >= 0) {
    const found = entries[wrong]!.length;
    return {
      format: "CSV",
      lines: [],
      error: `Row ${wrong + 2} has ${found} values; the first line names ${names.length} fields`,
    };
  }
  const lines = entries.map((row) =>
    JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]]))),
  );
  return { format: "CSV", lines };
}

function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
  for (let found = cell.exec(text); found !== null; found = cell.exec(text)) {
    const [, value, end] = found;
    rows[rows.length - 1]!.push(value!.startsWith('"') ? value!.slice(1, -1).replaceAll('""', '"') : value!);
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}
