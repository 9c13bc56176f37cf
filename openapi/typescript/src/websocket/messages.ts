/**
 * The messages of the subprotocol `tailrace.v1.json`, as `openapi/asyncapi.json` describes them.
 *
 * This module contains only their types.
 */
import type { DeliveredEntry, Entry } from "../generated/index.js";

export const SUBPROTOCOL = "tailrace.v1.json";
export const TICKET_PREFIX = "tailrace.ticket.";

export type Op =
  | "command"
  | "append"
  | "subscribe"
  | "consume"
  | "credit"
  | "ack"
  | "nack"
  | "claim"
  | "unsubscribe"
  | "ping";

/** A request without its id, which the connection chooses. */
export interface Request {
  readonly op: Op;
  readonly [member: string]: unknown;
}

export interface Hello {
  readonly version: string;
  readonly subprotocol: string;
  readonly limits: Readonly<Record<string, number>>;
}

export interface Reply {
  readonly id: number | null;
  readonly ok?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** An entry of a push. Entries of a group have `idle_ms` and `deliveries`. */
export type PushedEntry = Entry | DeliveredEntry;

export interface EntriesPush {
  readonly sub: number;
  readonly key: string;
  readonly entries: readonly PushedEntry[];
  readonly next: string;
  /** In the first push of a stream that did not exist before. */
  readonly incarnation?: string;
}

export interface GapPush {
  readonly sub: number;
  readonly key: string;
  /** `incarnation`: only of a stream that was deleted or created again. */
  readonly gap: { readonly from: string; readonly to: string; readonly incarnation?: string | null };
}

export interface EndPush {
  readonly sub: number;
  readonly end: unknown;
}

export type Push = EntriesPush | GapPush | EndPush;
export type Message = { readonly hello: Hello } | Reply | Push;
