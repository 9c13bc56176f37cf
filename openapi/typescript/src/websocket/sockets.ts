/**
 * The source of WebSockets: the platform's own class, or the package `ws` if the platform has none (Node 20).
 *
 * This module owns the least description of a socket that both satisfy, and the meaning of close codes.
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

/** Returns the platform's WebSocket class, or that of `ws`. */
export async function platformSocket(): Promise<SocketConstructor> {
  const own = (globalThis as { WebSocket?: unknown }).WebSocket;
  return (own ?? (await import("ws")).WebSocket) as SocketConstructor;
}

/** Returns the error for requests that were in progress when an open connection was lost. */
export function lossOf(code: number, reason: string): TailraceError {
  const said = reason === "" ? "" : `: ${reason}`;
  return new TailraceError(`CONNECTION_LOST: the WebSocket was closed with ${code}${said}`, {
    code: "CONNECTION_LOST",
    retryable: isPassing(code),
    sideEffects: "unknown",
    problem: { close_code: code, close_reason: reason },
  });
}

/** Returns the error for a failure before there was a connection: nothing was sent. */
export function failureToConnect(error: TailraceError): TailraceError {
  return new TailraceError(error.message, { ...error, sideEffects: "none", cause: error });
}

/**
 * Returns whether a new connection can help. Codes 1xxx have their standard meaning: a message that was wrong
 * is wrong again. Codes from 4000 to 4499 ask the client to connect again.
 */
function isPassing(code: number): boolean {
  if (code >= 4000) return code < 4500;
  return !MESSAGE_WAS_WRONG.has(code);
}

const MESSAGE_WAS_WRONG: ReadonlySet<number> = new Set([1002, 1003, 1007, 1008, 1009, 1010]);
