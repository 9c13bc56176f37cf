/**
 * Entries as a program holds them, and as they go on the wire.
 *
 * It owns the conversion both ways. Nothing is lost on it: names that repeat go as pairs, bytes as base64.
 * It never turns a value into a number.
 */
import type { DeliveredEntry, EntryToAppend, Entry as WireEntry } from "./generated/index.js";
import { refusedHere } from "./errors.js";

export type Value = string | Uint8Array;

/**
 * What is appended: an object, or pairs (an array of them, a `Map`).
 *
 * JavaScript moves names that look like integers to the front of an object: pairs keep the order whatever the names.
 */
export type Fields = Readonly<Record<string, Value>> | Iterable<readonly [Value, Value]>;

/** An entry as it was read. */
export interface Entry {
  readonly id: string;
  /** Values by name; of a name that repeats the last one: `pairs` has them all. */
  readonly fields: Readonly<Record<string, string>>;
  /** Names and values in order: there where a name repeats, or `shape: "pairs"` was asked for. */
  readonly pairs?: readonly (readonly [string, string])[];
  /** `base64`: names and values are base64, as not all of them are UTF-8. `bytesOf` reads them. */
  readonly encoding?: "base64";
}

/** An entry as a group's consumer is given it. */
export interface Delivered extends Entry {
  /** The stream. */
  readonly key: string;
  /** Milliseconds since its last delivery; 0 for a new one. */
  readonly idleMs: number;
  /** How often it was delivered before; 0 for a new one. */
  readonly deliveries: number;
  /** It was deleted while it was pending, and has no fields: acknowledge it. */
  readonly deleted: boolean;
}

/** How entries are asked for: `shape: "pairs"` keeps any order, `encoding: "base64"` makes all of it base64. */
export interface EntryForm {
  readonly shape?: "fields" | "pairs";
  readonly encoding?: "base64";
}

/** Fields as the server takes them. */
export type WireContent = Pick<EntryToAppend, "fields" | "pairs" | "encoding">;

export function toWire(fields: Fields): WireContent {
  if (!isPairs(fields) && hasStringsOnly(fields)) return { fields };
  const pairs: (readonly [Value, Value])[] = isPairs(fields) ? [...fields] : Object.entries(fields);
  if (pairs.every(isText)) return { pairs: pairs.map(([name, value]) => [name, value]) };
  return { pairs: pairs.map(([name, value]) => [toBase64(name), toBase64(value)]), encoding: "base64" };
}

export function fromWire(entry: WireEntry): Entry {
  const { id, fields, pairs, encoding } = entry;
  return {
    id,
    fields: fields ?? Object.fromEntries(pairs ?? []),
    ...(pairs ? { pairs } : {}),
    ...(encoding ? { encoding } : {}),
  };
}

export function deliveredFromWire(key: string, entry: DeliveredEntry): Delivered {
  return {
    ...fromWire(entry),
    key,
    idleMs: entry.idle_ms,
    deliveries: entry.deliveries,
    deleted: entry.deleted === true,
  };
}

/** The bytes of a name or value of this entry. */
export function bytesOf(entry: Pick<Entry, "encoding">, text: string): Uint8Array {
  if (entry.encoding !== "base64") return new TextEncoder().encode(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A name that can stand in a URL's path. URLs take `.` and `..` for steps, however they are written. */
export function checkedName(name: string, what: string): string {
  if (name === "") throw refusedHere(`${what} is empty`);
  if (name === "." || name === "..") throw refusedHere(`${what} ${name} cannot stand in a URL's path`);
  try {
    encodeURIComponent(name);
  } catch {
    throw refusedHere(`${what} holds half of a surrogate pair`);
  }
  return name;
}

function isPairs(fields: Fields): fields is Iterable<readonly [Value, Value]> {
  return Symbol.iterator in fields;
}

function isText(pair: readonly [Value, Value]): pair is readonly [string, string] {
  return !pair.some((value) => value instanceof Uint8Array);
}

function hasStringsOnly(fields: Readonly<Record<string, Value>>): fields is Record<string, string> {
  return !Object.values(fields).some((value) => value instanceof Uint8Array);
}

function toBase64(value: Value): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
