/**
 * Requests to the server: one client for the tab, with a time limit for each request.
 *
 * This module owns the token of the tab, which only `sessionStorage` keeps. It knows no view.
 */
import { Tailrace, type CommandWord } from "tailrace-client/index";
import { TailraceError, connectionLost, errorOfProblem, timedOut } from "tailrace-client/errors";

export const TIMEOUT_MS = 15_000;
const TOKEN = "tailrace-token";

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Request {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  readonly parseAs?: "json" | "text" | "stream";
}

type Method = "GET" | "POST" | "PUT" | "DELETE" | "HEAD";

let client = newClient();
const watchers = new Set<() => void>();

/** Returns another client with the token of the tab, with a WebSocket of its own. */
export function newClient(): Tailrace {
  const token = sessionStorage.getItem(TOKEN) ?? undefined;
  return new Tailrace({
    url: location.origin,
    timeoutMs: TIMEOUT_MS,
    retry: { attempts: 3, maxDelayMs: 2_000 },
    ...(token === undefined ? {} : { token }),
  });
}

/** Returns the client of the tab. */
export function tailrace(): Tailrace {
  return client;
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

/** Uses another token, or none, from now on. */
export function switchToken(token: string | undefined): void {
  if (token === undefined) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
  client.close();
  client = newClient();
  watchers.forEach((follow) => follow());
}

/** Calls a function when the tab uses another token. Returns a function that ends this. */
export function onToken(follow: () => void): () => void {
  watchers.add(follow);
  return () => void watchers.delete(follow);
}

/**
 * Sends one request and returns the body of the response. Throws `TailraceError`, with the code TIMEOUT after the
 * time limit, or the reason of the signal.
 */
export async function send<T>(method: Method, path: string, request: Request = {}): Promise<T> {
  return (await exchange(method, path, request)).data as T;
}

/** Sends a HEAD request and returns the headers of the response. It fails as `send` does. */
export async function readHeaders(path: string, request: Request = {}): Promise<Headers> {
  return (await exchange("HEAD", path, { ...request, parseAs: "text" })).headers;
}

async function exchange(
  method: Method,
  path: string,
  request: Request,
): Promise<{ readonly data: unknown; readonly headers: Headers }> {
  const { query, body, headers = {}, signal, timeoutMs = TIMEOUT_MS, parseAs = "json" } = request;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timedOut(timeoutMs)), timeoutMs);
  const either = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
  try {
    const sent = {
      ...(query ? { query: { ...query } as Record<string, unknown> } : {}),
      ...(body === undefined ? {} : { body }),
      ...(typeof body === "string" ? { bodySerializer: (text: unknown) => text as string } : {}),
    };
    const kind = body === undefined ? {} : { "Content-Type": "application/json" };
    const answer = await client.http
      .request({ method, url: path, headers: { ...kind, ...headers }, signal: either, parseAs, ...sent })
      .catch((error: unknown) => ({ data: undefined, error, response: undefined }));
    either.throwIfAborted();
    if (answer.response?.ok && answer.error === undefined) {
      return { data: answer.data, headers: answer.response.headers };
    }
    throw answer.response === undefined
      ? connectionLost(answer.error)
      : errorOfProblem(answer.error, answer.response);
  } finally {
    clearTimeout(timer);
  }
}

/** A reply in Redis's words: its result, or its error line. */
export type Reply = { readonly result: unknown } | { readonly error: string };

/** As many commands as one request has, so that it takes about a millisecond of the server's time. */
const COMMANDS_PER_REQUEST = 20;

/** Sends commands, a few in each request, and returns a reply for each. */
export async function pipeline(
  commands: readonly (readonly CommandWord[])[],
  request: Request = {},
): Promise<Reply[]> {
  const replies: Reply[] = [];
  while (replies.length < commands.length) {
    const body = commands.slice(replies.length, replies.length + COMMANDS_PER_REQUEST);
    replies.push(...(await send<Reply[]>("POST", "/v1/command/pipeline", { ...request, body })));
  }
  return replies;
}

/** Requests that `forEach` has open at a time: other clients of the server wait for so many at most. */
const OPEN_REQUESTS_MAX = 2;

/** Runs a request for each item, a few at a time, and returns the results in the order of the items. */
export async function forEach<T, R>(items: readonly T[], request: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const next = async () => {
    for (const [index, item] of left) results[index] = await request(item);
  };
  await Promise.all(Array.from({ length: OPEN_REQUESTS_MAX }, next));
  return results;
}

/**
 * Runs an append for each item, and then `after` for the items that were appended.
 *
 * An item whose append is refused keeps its place. Returns how many were appended; throws the first refusal if
 * there is one, after the others are settled.
 */
export async function appendThen(
  appends: readonly (readonly CommandWord[])[],
  after: (appended: readonly number[]) => (readonly CommandWord[])[],
): Promise<number> {
  const replies = await pipeline(appends);
  const appended = replies.flatMap((reply, index) => ("error" in reply ? [] : [index]));
  const settled = appended.length === 0 ? [] : await pipeline(after(appended));
  const failed = [...replies, ...settled].find(
    (reply): reply is Extract<Reply, { error: string }> => "error" in reply,
  );
  if (failed !== undefined) throw new Error(failed.error);
  return appended.length;
}

/** Returns what went wrong, as an error that the page can show. */
export function failure(error: unknown): TailraceError {
  if (error instanceof TailraceError) return error;
  return new TailraceError(error instanceof Error ? error.message : String(error), {
    code: "UNEXPECTED",
    cause: error,
  });
}
