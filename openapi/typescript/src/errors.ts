/**
 * The one error of this package: what a server's problem (RFC 9457) says, and what a lost connection means.
 *
 * It owns the reading of problems and of failed connections. It never decides what is done about them:
 * `retry.ts` does.
 */

/** `none`: nothing was changed. `unknown`: it may have been carried out. */
export type SideEffects = "none" | "unknown";

/** What an error says of itself; `problem` is the server's document as it came. */
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

/** A request that was refused, or one whose answer never came. Branch on `code`. */
export class TailraceError extends Error {
  override readonly name = "TailraceError";
  /** Stable: `NOGROUP`, `ID_NOT_GREATER`, ..., and from this package `CONNECTION_LOST`, `TIMEOUT`, `CLOSED`. */
  readonly code: string;
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  /** Whether the same request can succeed later, unchanged. */
  readonly retryable: boolean;
  readonly sideEffects: SideEffects;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;
  /** The stream's last id, where going on needs it. */
  readonly lastId: string | null;
  /** The stream's first id, where going on needs it. */
  readonly firstId: string | null;
  /**
   * The stream, group and consumer that the error is about, where it is about one. Where one of them is not UTF-8,
   * all are base64 and `problem.encoding` is `base64`.
   */
  readonly key: string | null;
  readonly group: string | null;
  readonly consumer: string | null;
  /** The id of the entry that the error is about. */
  readonly id: string | null;
  /** Seconds after which to come back, where the server named them. */
  readonly retryAfterS: number | undefined;
  /** The problem as the server sent it; empty where none came. */
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

/** The error that a problem document means; whatever else a proxy may have answered is read by its status. */
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

/** A connection that was not made or broke. Whether anything was carried out is known only where none was made. */
export function connectionLost(cause: unknown, detail?: string): TailraceError {
  return new TailraceError(`CONNECTION_LOST: ${detail ?? reasonOf(cause)}`, {
    code: "CONNECTION_LOST",
    retryable: true,
    sideEffects: NEVER_CONNECTED.has(systemCodeOf(cause)) ? "none" : "unknown",
    cause,
  });
}

/** No answer in time: the request may have been carried out. */
export function timedOut(timeoutMs: number): TailraceError {
  return new TailraceError(`TIMEOUT: no answer within ${timeoutMs} ms`, {
    code: "TIMEOUT",
    retryable: true,
    sideEffects: "unknown",
  });
}

/** A request that was not sent, since it cannot be right. */
export function refusedHere(detail: string): TailraceError {
  return new TailraceError(`INVALID_ARGUMENT: ${detail}`, { code: "INVALID_ARGUMENT" });
}

/** What was asked of a client that was closed. */
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

/** What stands between client and server answered in its place: from 500 on nobody knows what was done. */
function errorOfStatus(status: number, retryAfterS: number | undefined): TailraceError {
  return new TailraceError(`HTTP_${status}: the answer is no problem document`, {
    code: `HTTP_${status}`,
    status,
    retryable: PASSING_STATUSES.has(status),
    sideEffects: status >= 500 ? "unknown" : "none",
    retryAfterS,
  });
}

/** How Node says that there was no connection on which anything could have been sent. Browsers do not tell. */
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
