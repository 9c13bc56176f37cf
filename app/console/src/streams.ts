/**
 * Requests about streams and their entries, as the views need them. Each is bounded by a count or by the page of
 * the server.
 */
import type { api } from "tailrace-client/index";
import { type Name, nameOf, segment } from "./names";
import { type Query, failure, readHeaders, send } from "./server";

/** A row of the list of streams. */
export interface Stream {
  readonly key: Name;
  readonly length: number;
  readonly lastId: string;
  readonly added: number;
  readonly groups: number;
}

export interface StreamPage {
  readonly streams: readonly Stream[];
  readonly next: Name | undefined;
}

/** An entry: its fields in order, as text or base64. */
export interface Entry {
  readonly id: string;
  readonly pairs: readonly (readonly [string, string])[];
  readonly encoding?: "base64";
}

export interface Group {
  readonly name: Name;
  readonly consumers: number;
  readonly pending: number;
  readonly lastDeliveredId: string;
  readonly read: number | null;
  readonly lag: number | null;
  /** The age of the oldest unread entry; undefined if there is none, and behind a gateway. */
  readonly lagMs: number | undefined;
  /** How many entries wait for an earlier one with the same value; undefined without an order by key. */
  readonly held: number | undefined;
  /** How many of these values are in flight. */
  readonly keysInFlight: number | undefined;
  /** What the server applies to each delivery, by the names of the API; only what is set. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly deadLetterStream: Name | undefined;
  /** How many entries ever moved to the dead letters. */
  readonly deadLetters: number;
}

export interface Consumer {
  readonly name: Name;
  readonly pending: number;
  /** The time since its last request. */
  readonly idleMs: number;
  /** The time since entries were last delivered to it; null if none ever were. */
  readonly inactiveMs: number | null;
}

/** Members of a group that are no settings. A member of a later server counts as a setting. */
const STATE = [
  ...["name", "encoding", "consumers", "pending", "last_delivered_id", "entries_read", "dead_letters"],
  ...["lag", "lag_ms", "held", "keys_in_flight"],
];

const ENTRIES_PER_PAGE = 50;

/** Returns the path of a stream, and of what is below it. */
export function streamPath(key: Name, rest = ""): string {
  return `/v1/streams/${segment(key)}${rest}`;
}

export function groupPath(key: Name, group: Name, rest = ""): string {
  return streamPath(key, `/groups/${segment(group)}${rest}`);
}

/** Returns a page of streams in byte order of their keys. */
export async function listStreams(
  options: { prefix?: Name | undefined; after?: Name | undefined; limit?: number },
  signal?: AbortSignal,
): Promise<StreamPage> {
  const { prefix = "", after, limit = 50 } = options;
  const query = new URLSearchParams({ limit: String(limit) }).toString();
  const rest = [
    ...(prefix === "" ? [] : [`prefix=${segment(prefix)}`]),
    ...(after === undefined ? [] : [`start_after=${segment(after)}`]),
  ];
  const page = await send<api.StreamPage>("GET", `/v1/streams?${[query, ...rest].join("&")}`, { signal });
  return {
    streams: page.streams.map(streamOf),
    next: page.next === null || page.next === undefined ? undefined : nameOf(page.next, page),
  };
}

/** Returns one stream; undefined if it does not exist. O(1) for the server, and without any values. */
export async function findStream(key: Name, signal?: AbortSignal): Promise<Stream | undefined> {
  const { streams } = await listStreams({ prefix: key, limit: 1 }, signal);
  const [first] = streams;
  return first !== undefined && segment(first.key) === segment(key) ? first : undefined;
}

function streamOf(row: api.StreamItem): Stream {
  return {
    key: nameOf(row.key, row),
    length: row.length,
    lastId: row.last_id,
    added: row.entries_added,
    groups: row.groups,
  };
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
}

/** Returns a page of entries, newest first unless `order` says otherwise. */
export async function readEntries(
  key: Name,
  options: { start?: string; end?: string; order?: "asc" | "desc"; count?: number },
  signal?: AbortSignal,
): Promise<EntryPage> {
  const { start, end, order = "desc", count = ENTRIES_PER_PAGE } = options;
  const query: Query = { start, end, order, count, shape: "pairs" };
  const page = await send<{ entries: api.Entry[]; next: string | null }>("GET", streamPath(key, "/entries"), {
    query,
    signal,
  });
  return { entries: page.entries.map(entryOf), next: page.next };
}

export interface ScanPage extends EntryPage {
  /** How many entries the server examined for this page. */
  readonly scanned: number;
}

/** Returns the entries that match a condition, newest first. The server examines a bounded number of entries. */
export async function scanEntries(
  key: Name,
  filter: string,
  options: { start?: string | undefined; end?: string | undefined; count: number },
  signal?: AbortSignal,
): Promise<ScanPage> {
  const query: Query = { ...options, filter, order: "desc", shape: "pairs" };
  const page = await send<{ entries: api.Entry[]; next: string | null; scanned: number }>(
    "GET",
    streamPath(key, "/entries"),
    { query, signal },
  );
  return { entries: page.entries.map(entryOf), next: page.next, scanned: page.scanned };
}

/** Returns the condition that a field has a value; nothing for an empty field. */
export function conditionOf(field: string, value: string): string {
  return field === "" ? "" : `fields[${JSON.stringify(field)}] == ${JSON.stringify(value)}`;
}

export async function getEntry(key: Name, id: string, signal?: AbortSignal): Promise<Entry> {
  const path = streamPath(key, `/entries/${encodeURIComponent(id)}`);
  return entryOf(await send<api.Entry>("GET", path, { query: { shape: "pairs" }, signal }));
}

export function entryOf(entry: {
  id: string;
  fields?: unknown;
  pairs?: unknown;
  encoding?: "base64" | null | undefined;
}): Entry {
  const pairs = (entry.pairs ?? Object.entries(entry.fields ?? {})) as readonly (readonly [string, string])[];
  return { id: entry.id, pairs, ...(entry.encoding === "base64" ? { encoding: "base64" as const } : {}) };
}

export async function listGroups(key: Name, signal?: AbortSignal): Promise<Group[]> {
  const reply = await send<{ groups: api.Group[] }>("GET", streamPath(key, "/groups"), { signal });
  return reply.groups.map(groupOf);
}

export async function getGroup(key: Name, group: Name): Promise<Group> {
  return groupOf(await send<api.Group>("GET", groupPath(key, group)));
}

export async function listConsumers(key: Name, group: Name, signal?: AbortSignal): Promise<Consumer[]> {
  const path = groupPath(key, group, "/consumers");
  const { consumers } = await send<api.ConsumerList>("GET", path, { signal });
  return consumers.map((row) => ({
    name: nameOf(row.name, row),
    pending: row.pending,
    idleMs: row.idle_ms,
    inactiveMs: row.inactive_ms,
  }));
}

function groupOf(group: api.Group): Group {
  const isSet = ([name, value]: [string, unknown]) => !STATE.includes(name) && value !== null;
  const target = group.dead_letter_stream;
  const number = (name: string) => (group as unknown as Readonly<Record<string, number | undefined>>)[name];
  return {
    name: nameOf(group.name, group),
    consumers: group.consumers,
    pending: group.pending,
    lastDeliveredId: group.last_delivered_id,
    read: group.entries_read ?? null,
    lag: group.lag ?? null,
    lagMs: number("lag_ms"),
    held: number("held"),
    keysInFlight: number("keys_in_flight"),
    settings: Object.fromEntries(Object.entries(group).filter(isSet)),
    deadLetterStream: target ? nameOf(target, group) : undefined,
    deadLetters: group.dead_letters ?? 0,
  };
}

export interface Part {
  readonly start: string;
  readonly end: string;
  readonly count: number;
}

/** Divides a range into parts with almost equal counts, from the index of blocks alone. */
export async function splitEntries(
  key: Name,
  parts: number,
  range: Query,
  signal?: AbortSignal,
): Promise<Part[]> {
  const query = { ...range, parts };
  return (await send<{ parts: Part[] }>("GET", streamPath(key, "/entries:split"), { query, signal })).parts;
}

/** What the server knows of a stream without reading its values. */
export interface Outline {
  readonly firstId?: string | undefined;
  /** About how many bytes the entries take; undefined behind a gateway. */
  readonly bytes?: number | undefined;
}

/** Returns the first id and the bytes of a stream; nothing if it does not exist. */
export async function outlineOf(key: Name, signal?: AbortSignal): Promise<Outline> {
  try {
    const headers = await readHeaders(streamPath(key), { signal });
    const bytes = headers.get("X-Stream-Bytes");
    return {
      firstId: headers.get("X-First-Id") ?? undefined,
      bytes: bytes === null ? undefined : Number(bytes),
    };
  } catch (error) {
    if (failure(error).status === 404) return {};
    throw error;
  }
}
