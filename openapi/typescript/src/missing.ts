/**
 * Errors that say that something does not exist. This module only recognizes them.
 */
import { TailraceError } from "./errors.js";

const NOT_FOUND = 404;
const GROUP_CODES: ReadonlySet<string> = new Set(["NOGROUP", "NO_SUCH_STREAM"]);

/** Returns whether the error says that the stream, the group or the entry does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof TailraceError && error.status === NOT_FOUND;
}

/** Returns whether the error says that the group or its stream does not exist. */
export function isGroupMissing(error: unknown): error is TailraceError {
  return error instanceof TailraceError && GROUP_CODES.has(error.code);
}
