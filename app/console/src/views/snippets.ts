/** Programs that read one entry, to be pasted elsewhere. No program has a token in it. */
import { type Name, segment, shown } from "../names";
import { hasToken } from "../server";
import { type Entry, streamPath } from "../streams";

export function jsonOf(entry: Entry): string {
  const names = entry.pairs.map(([name]) => name);
  const isPlain = new Set(names).size === names.length && entry.encoding === undefined;
  const content = isPlain ? { fields: Object.fromEntries(entry.pairs) } : { pairs: entry.pairs };
  return JSON.stringify(
    { id: entry.id, ...content, ...(entry.encoding ? { encoding: entry.encoding } : {}) },
    null,
    2,
  );
}

export function curlOf(key: Name, id: string): string {
  const url = `${location.origin}${streamPath(key, `/entries/${id}`)}`.replaceAll("'", "%27");
  return `curl -s '${url}'${hasToken() ? ' -H "Authorization: Bearer $TAILRACE_TOKEN"' : ""}`;
}

export function pythonOf(key: Name, id: string): string {
  return [
    "from tailrace_client import Tailrace",
    "",
    `with Tailrace(${JSON.stringify(location.origin)}${hasToken() ? ", token=token" : ""}) as tailrace:`,
    `    for entry in tailrace.stream(${JSON.stringify(textOf(key))}).read(start="${id}", end="${id}"):`,
    "        print(entry)",
  ].join("\n");
}

export function typescriptOf(key: Name, id: string): string {
  return [
    'import { Tailrace } from "tailrace-client";',
    "",
    `const tailrace = new Tailrace({ url: ${JSON.stringify(location.origin)}${hasToken() ? ", token" : ""} });`,
    `const entries = tailrace.stream(${JSON.stringify(textOf(key))}).read({ start: "${id}", end: "${id}" });`,
    "for await (const entry of entries) console.log(entry);",
  ].join("\n");
}

function textOf(key: Name): string {
  return typeof key === "string" ? key : `${shown(key)} (not UTF-8: ${segment(key)})`;
}
