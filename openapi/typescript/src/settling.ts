/**
 * The options with which a consumer settles a delivered entry: `ack` and `nack`.
 *
 * This module owns their form, for calls over HTTP and for deliveries over a WebSocket. It sends nothing.
 */
import type { Waiting } from "./calls.js";

export interface AckOptions extends Waiting {
  /** Also delete the entries from the stream, in the same step. */
  readonly delete?: boolean;
  /** With `delete`: the effect on pending entries of other groups. */
  readonly references?: "keep" | "delete" | "acknowledged";
}

export interface NackOptions extends Waiting {
  /**
   * `fail`, the default: the delivery counts. `silent`: it does not count. `fatal`: the entry should not be
   * tried again.
   */
  readonly mode?: "silent" | "fail" | "fatal";
  readonly retryCount?: number;
  /** How long no consumer can claim the entries, in milliseconds. Without it, the group's `backoff` applies. */
  readonly delayMs?: number;
}
