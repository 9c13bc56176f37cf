/**
 * Names of streams, groups and consumers: text, or the base64 of other bytes.
 *
 * This module owns how a name is written in a URL, in a request and on the page. A name is never markup.
 */
export type Name = string | { readonly base64: string };

/** An object of a response that has a name, and `encoding` if the name is base64. */
export interface Encoded {
  readonly encoding?: "base64" | null | undefined;
}

/** Returns the name from a member of a response. */
export function nameOf(text: string, from: Encoded): Name {
  return from.encoding === "base64" ? nameOfBase64(text) : text;
}

/** Returns text if the bytes are UTF-8, so that each name has one form. */
function nameOfBase64(base64: string): Name {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64 };
  }
}

/** Returns the name as a segment of a URL's path. */
export function segment(name: Name): string {
  if (typeof name === "string") return encodeURIComponent(name);
  return Array.from(atob(name.base64), (byte) => `%${hex(byte.charCodeAt(0))}`).join("");
}

/** Returns whether a URL's path can contain the name: browsers treat `.` and `..` as steps. */
export function fitsUrl(name: Name): boolean {
  return name !== "." && name !== ".." && name !== "";
}

/** Returns the name as the page shows it: control characters and other bytes are escaped. */
export function shown(name: Name): string {
  if (name === "") return "(empty name)";
  if (typeof name !== "string") return Array.from(atob(name.base64), shownByte).join("");
  return name.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Returns a key that tells names apart. */
export function identity(name: Name): string {
  return typeof name === "string" ? `t${name}` : `b${name.base64}`;
}

/** Writes the name into the parameters of a URL, as `key` or `key64`. */
export function putName(to: URLSearchParams, parameter: string, name: Name): void {
  if (typeof name === "string") to.set(parameter, name);
  else to.set(`${parameter}64`, name.base64);
}

/** Reads a name from the parameters of a URL. */
export function readName(from: URLSearchParams, parameter: string): Name | undefined {
  const base64 = from.get(`${parameter}64`);
  if (base64 !== null && isBase64(base64)) return nameOfBase64(base64);
  return from.get(parameter) ?? undefined;
}

/** Returns the members of a request that carry names: base64 for all if one of them needs it. */
export function namedMembers(names: Readonly<Record<string, Name>>): Record<string, string> {
  const all = Object.entries(names);
  if (all.every(([, name]) => typeof name === "string")) return names as Record<string, string>;
  const encoded = all.map(([member, name]) => [
    member,
    typeof name === "string" ? base64OfText(name) : name.base64,
  ]);
  return { ...Object.fromEntries(encoded), encoding: "base64" };
}

/** Returns the base64 of a text's UTF-8 bytes. */
export function base64OfText(text: string): string {
  return base64OfBytes(new TextEncoder().encode(text));
}

export function base64OfBytes(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

const CHUNK = 8192;
/** Control characters, and those that change the direction of text or have no width. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

function shownByte(character: string): string {
  const byte = character.charCodeAt(0);
  return byte >= 0x20 && byte < 0x7f ? character : `\\x${hex(byte)}`;
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, "0");
}

function isBase64(text: string): boolean {
  try {
    return atob(text) !== "";
  } catch {
    return false;
  }
}
