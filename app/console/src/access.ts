/**
 * What the token of the tab may do, so that buttons can be off and say why.
 *
 * This module only predicts: the server decides. Its patterns match as those of KEYS do.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Loaded } from "./hooks";
import { type Name, shown } from "./names";
import { send } from "./server";

export type Scope = "read" | "append" | "consume" | "admin";

export interface Access {
  /** The name of the token; null if the server requires no tokens. */
  readonly token: string | null;
  readonly scopes: readonly Scope[];
  readonly key_patterns: readonly string[];
  readonly expires_at_ms: number | null;
}

export const AccessContext = createContext<Loaded<Access> | undefined>(undefined);

export function loadAccess(signal: AbortSignal): Promise<Access> {
  return send<Access>("GET", "/v1/access", { signal });
}

/**
 * Returns a function that says why an operation is refused, or undefined if it may be sent. Without a key the
 * operation concerns all keys.
 */
export function useRefusal(): (scopes: Scope | readonly Scope[], key?: Name) => string | undefined {
  const access = useContext(AccessContext)?.data;
  return (scopes, key) => {
    if (access === undefined) return undefined;
    const missing = [scopes].flat().filter((scope) => !access.scopes.includes(scope));
    if (missing.length > 0) return `The token ${access.token} lacks the scope ${missing.join(" and ")}.`;
    if (access.key_patterns.includes("*")) return undefined;
    if (key === undefined)
      return `This concerns all streams, and the token ${access.token} has no key pattern *.`;
    if (access.key_patterns.some((pattern) => matches(pattern, key))) return undefined;
    return `No key pattern of the token ${access.token} matches ${shown(key)}.`;
  };
}

/** Returns whether the rights of this tab are known. */
export function useRightsAreKnown(): boolean {
  return useContext(AccessContext)?.data !== undefined;
}

/** Returns whether a glob matches a name, byte by byte. */
export function matches(pattern: string, key: Name): boolean {
  return globOf(bytesIn(pattern)).test(bytesIn(key));
}

function bytesIn(name: Name): string {
  if (typeof name !== "string") return atob(name.base64);
  return Array.from(new TextEncoder().encode(name), (byte) => String.fromCharCode(byte)).join("");
}

function globOf(pattern: string): RegExp {
  const parts = pattern.match(/\\[\s\S]|\[\^?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/g) ?? [];
  return new RegExp(`^${parts.map(partOf).join("")}$`, "s");
}

function partOf(part: string): string {
  if (part === "*") return ".*";
  if (part === "?") return ".";
  if (part === "[]") return "(?!)";
  if (part.length > 1 && part.startsWith("[")) {
    const isNegated = part[1] === "^";
    const inside = part.slice(isNegated ? 2 : 1, -1).replace(/\\([\s\S])/g, "$1");
    return `[${isNegated ? "^" : ""}${inside.replace(/[\\\]^[]/g, "\\$&")}]`;
  }
  return (part.length === 2 ? part[1]! : part).replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
