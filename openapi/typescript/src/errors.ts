/**
 * The only error class of this package, for problem documents (RFC 9457) and for failed connections.
 *
 * This module owns the conversion of both into errors. It never decides what to do about an error: `retry.ts`
 * does.
 */

/** `none`: nothing was changed. `unknown`: the request may have taken effect. */
export type SideEffects = "none" | "unknown";

/** The members of an error. `problem` is the server's document, unchanged. */
export interface ErrorFacts {
  readonly code: string;
  readonly status?: number;
  readonly retryable?: boolean;
  readonly sideEffects?: SideEffects;
  readonly requestId?: string | null;
  readonly lastId?: string | null;
  readonly firstId?: string | null;
  readonly key?: string | null;
  readonly group?: string | null;
  readonly consumer?: string | null;
  readonly id?: string | null;
  readonly retryAfterS?: number | undefined;
  readonly problem?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A request was refused, or its response did not arrive. Branch on `code`. */
export class TailraceError extends Error {
  override readonly name = "TailraceError";
  /**
   * Stable: `NOGROUP`, `ID_NOT_GREATER`, ..., and from this package `CONNECTION_LOST`, `TIMEOUT`, `CLOSED`,
   * `INVALID_ARGUMENT`, `HTTP_502`, ...
   */
  readonly code: string;
  /** The HTTP status; 0 if no response arrived. */
  readonly status: number;
  /** Whether the same request can succeed later, unchanged. */
  readonly retryable: boolean;
  /** Whether the request may have taken effect. */
  readonly sideEffects: SideEffects;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;
  /** The last id of the stream, if the program needs it to continue. */
  readonly lastId: string | null;
  /** The first id of the stream, if the program needs it to continue. */
  readonly firstId: string | null;
  /**
   * The stream, group and consumer that the error concerns, or null. If one of them is not UTF-8, all are
   * base64 and `problem.encoding` is `base64`.
   */
  readonly key: string | null;
  readonly group: string | null;
  readonly consumer: string | null;
  /** The id of the entry that the error concerns. */
  readonly id: string | null;
  /** The seconds to wait before a repetition, if the server sent them. */
  readonly retryAfterS: number | undefined;
  /** The problem document of the server; empty if there was none. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? 0;
    this.retryable = facts.retryable ?? false;
    this.sideEffects = facts.sideEffects ?? "none";
    this.requestId = facts.requestId ?? null;
    this.lastId = facts.lastId ?? null;
    this.firstId = facts.firstId ?? null;
    this.key = facts.key ?? null;
    this.group = facts.group ?? null;
    this.consumer = facts.consumer ?? null;
    this.id = facts.id ?? null;
    this.retryAfterS = facts.retryAfterS;
    this.problem = facts.problem ?? {};
  }
}

/**
 * Returns the error for a problem document. For any other response, such as a proxy's, only the status
 * counts.
 */
export function errorOfProblem(body: unknown, response?: Response): TailraceError {
  const retryAfterS = secondsOf(response?.headers.get("Retry-After") ?? null);
  if (!isProblem(body)) return errorOfStatus(response?.status ?? 0, retryAfterS);
  return new TailraceError(`${body.code}: ${body.detail}`, {
    code: body.code,
    status: body.status,
    retryable: body.retryable,
    sideEffects: body.side_effects,
    requestId: body.request_id,
    lastId: body.last_id ?? null,
    firstId: body.first_id ?? null,
    key: body.key ?? null,
    group: body.group ?? null,
    consumer: body.consumer ?? null,
    id: body.id ?? null,
    retryAfterS,
    problem: body,
  });
}

/**
 * Returns the error for a connection that failed or broke. Only if none was made is it certain that nothing
 * was done.
 */
export function connectionLost(cause: unknown, detail?: string): TailraceError {
  return new TailraceError(`CONNECTION_LOST: ${detail ?? reasonOf(cause)}`, {
    code: "CONNECTION_LOST",
    retryable: true,
    sideEffects: NEVER_CONNECTED.has(systemCodeOf(cause)) ? "none" : "unknown",
    cause,
  });
}

/** Returns the error for a response that did not arrive in time. The request may have taken effect. */
export function timedOut(timeoutMs: number): TailraceError {
  return new TailraceError(`TIMEOUT: no answer within ${timeoutMs} ms`, {
    code: "TIMEOUT",
    retryable: true,
    sideEffects: "unknown",
  });
}

/** Returns the error for an invalid request that is not sent. */
export function refusedHere(detail: string): TailraceError {
  return new TailraceError(`INVALID_ARGUMENT: ${detail}`, { code: "INVALID_ARGUMENT" });
}

/** Returns the reason with which the signal of a lost item is aborted. */
export function lostHere(key: string, id: string): TailraceError {
  const why = "another consumer claimed it, or it is no longer pending";
  return new TailraceError(`LOST: the entry ${id} of ${key} is lost: ${why}`, { code: "LOST" });
}

/** Returns the error for a call on a closed client. */
export function closedHere(): TailraceError {
  return new TailraceError("CLOSED: the client was closed", { code: "CLOSED" });
}

interface ProblemMembers extends Record<string, unknown> {
  readonly code: string;
  readonly detail: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly side_effects: SideEffects;
  readonly request_id: string | null;
  readonly last_id?: string | null;
  readonly first_id?: string | null;
  readonly key?: string | null;
  readonly group?: string | null;
  readonly consumer?: string | null;
  readonly id?: string | null;
}

function isProblem(body: unknown): body is ProblemMembers {
  return typeof body === "object" && body !== null && "code" in body && "retryable" in body;
}

const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns the error for a response of a proxy. From status 500 on, the request may have taken effect. */
function errorOfStatus(status: number, retryAfterS: number | undefined): TailraceError {
  return new TailraceError(`HTTP_${status}: the response is not a problem document`, {
    code: `HTTP_${status}`,
    status,
    retryable: PASSING_STATUSES.has(status),
    sideEffects: status >= 500 ? "unknown" : "none",
    retryAfterS,
  });
}

/** Node's codes for a connection that was never made, so nothing was sent. Browsers report no codes. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function systemCodeOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  return typeof inner === "object" && inner !== null && "code" in inner ? String(inner.code) : "";
}

function reasonOf(cause: unknown): string {
  const code = systemCodeOf(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  return code === "" ? message : `${message} (${code})`;
}

function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
