/**
 * Where a WebSocket comes from: the platform's own, or the package `ws` where it has none (Node 20).
 *
 * It owns the smallest description of a socket that both satisfy, and what close codes mean.
 */
import { TailraceError } from "../errors.js";

export interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

/** The platform's WebSocket, or that of `ws`. */
export async function platformSocket(): Promise<SocketConstructor> {
  const own = (globalThis as { WebSocket?: unknown }).WebSocket;
  return (own ?? (await import("ws")).WebSocket) as SocketConstructor;
}

/** What the loss of an open connection means for what was under way on it. */
export function lossOf(code: number, reason: string): TailraceError {
  const said = reason === "" ? "" : `: ${reason}`;
  return new TailraceError(`CONNECTION_LOST: the WebSocket was closed with ${code}${said}`, {
    code: "CONNECTION_LOST",
    retryable: isPassing(code),
    sideEffects: "unknown",
    problem: { close_code: code, close_reason: reason },
  });
}

/** What went wrong before there was a connection: nothing was sent on it. */
export function failureToConnect(error: TailraceError): TailraceError {
  return new TailraceError(error.message, { ...error, sideEffects: "none", cause: error });
}

/** 1xxx as the standard says: what was wrong with a message will be wrong again. 4000 to 4499: come back. */
function isPassing(code: number): boolean {
  if (code >= 4000) return code < 4500;
  return !MESSAGE_WAS_WRONG.has(code);
}

const MESSAGE_WAS_WRONG: ReadonlySet<number> = new Set([1002, 1003, 1007, 1008, 1009, 1010]);
