/**
 * Entries as a program uses them, and as requests and responses contain them.
 *
 * This module owns the conversion in both directions. It loses nothing: repeated names become pairs, bytes
 * become base64. It never converts a value to a number.
 */
import type { DeliveredEntry, EntryToAppend, Entry as WireEntry } from "./generated/index.js";
import { refusedHere } from "./errors.js";

/** A name or value: text, or bytes. */
export type Value = string | Uint8Array;

/**
 * The fields to append: an object, or pairs (an array of pairs, a `Map`).
 *
 * JavaScript moves names that look like integers to the front of an object; pairs keep the order of any
 * names.
 */
export type Fields = Readonly<Record<string, Value>> | Iterable<readonly [Value, Value]>;

/** An entry that was read. */
export interface Entry {
  readonly id: string;
  /** Values by name. Of a repeated name it contains the last value; `pairs` contains all. */
  readonly fields: Readonly<Record<string, string>>;
  /** Names and values in order. Present if a name is repeated, or if the request had `shape: "pairs"`. */
  readonly pairs?: readonly (readonly [string, string])[];
  /**
   * `base64` if a name or value is not UTF-8: all names and values are base64 then. `bytesOf` decodes them.
   */
  readonly encoding?: "base64";
}

/** An entry that a group delivered to a consumer. */
export interface Delivered extends Entry {
  /** The key of the stream. */
  readonly key: string;
  /** Milliseconds since its previous delivery; 0 for a new entry. */
  readonly idleMs: number;
  /** The number of earlier deliveries; 0 for a new entry. */
  readonly deliveries: number;
  /** Whether the entry was deleted while it was pending. It has no fields then: acknowledge it. */
  readonly deleted: boolean;
}

/**
 * The form of the requested entries. `shape: "pairs"` keeps any order; `encoding: "base64"` encodes all names
 * and values.
 */
export interface EntryForm {
  readonly shape?: "fields" | "pairs";
  readonly encoding?: "base64";
}

/** Fields in the form of a request. */
export type WireContent = Pick<EntryToAppend, "fields" | "pairs" | "encoding">;

/** Returns fields in the form of a request. */
export function toWire(fields: Fields): WireContent {
  if (!isPairs(fields) && hasStringsOnly(fields)) return { fields };
  const pairs: (readonly [Value, Value])[] = isPairs(fields) ? [...fields] : Object.entries(fields);
  if (pairs.every(isText)) return { pairs: pairs.map(([name, value]) => [name, value]) };
  return { pairs: pairs.map(([name, value]) => [toBase64(name), toBase64(value)]), encoding: "base64" };
}

/** Returns an entry from the form of a response. */
export function fromWire(entry: WireEntry): Entry {
  const { id, fields, pairs, encoding } = entry;
  return {
    id,
    fields: fields ?? Object.fromEntries(pairs ?? []),
    ...(pairs ? { pairs } : {}),
    ...(encoding ? { encoding } : {}),
  };
}

/** Returns a delivered entry from the form of a response. */
export function deliveredFromWire(key: string, entry: DeliveredEntry): Delivered {
  return {
    ...fromWire(entry),
    key,
    idleMs: entry.idle_ms,
    deliveries: entry.deliveries,
    deleted: entry.deleted === true,
  };
}

/** Returns the bytes of a name or value of this entry. */
export function bytesOf(entry: Pick<Entry, "encoding">, text: string): Uint8Array {
  if (entry.encoding !== "base64") return new TextEncoder().encode(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * Returns the name if a URL's path can contain it. URLs treat `.` and `..` as path steps, however they are
 * written.
 */
export function checkedName(name: string, what: string): string {
  if (name === "") throw refusedHere(`${what} is empty; it needs at least one character`);
  if (name === "." || name === "..")
    throw refusedHere(`${what} is ${name}, which the path of a URL cannot contain; use another name`);
  try {
    encodeURIComponent(name);
  } catch {
    throw refusedHere(`${what} contains half of a surrogate pair; use valid Unicode`);
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
