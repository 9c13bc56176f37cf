/**
 * Decides when a failed attempt is repeated, and after which pause.
 *
 * This module owns the policy. Its callers make the attempts and know whether a repetition is harmless: an
 * attempt that may have taken effect is repeated only if it is `repeatable`.
 */
import { TailraceError } from "./errors.js";
import { sleep } from "./waiting.js";

/** How often and after which pauses a request is repeated. */
export interface RetryPolicy {
  /** The number of attempts in total; 1 means no retry. */
  readonly attempts: number;
  /**
   * The pause after the first attempt. Each further pause is twice as long, and shortened at random to spread
   * clients.
   */
  readonly firstDelayMs: number;
  /** The longest pause, unless the server requests a longer one. */
  readonly maxDelayMs: number;
}

/** About eleven seconds in total, which is longer than a server takes to restart. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 100, maxDelayMs: 5_000 };

/** The settings of a loop of attempts. */
export interface Attempts {
  readonly policy: RetryPolicy;
  /** Whether a repetition has no further effect. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the result of the first attempt that succeeds. Throws the last error, or the reason of the signal.
 * `repeated`: the result after a lost response, if that of the repetition says nothing.
 */
export async function withRetries<T>(
  attempts: Attempts,
  attempt: () => Promise<T>,
  repeated?: T,
): Promise<T> {
  let isUnclear = false;
  for (let made = 1; ; made++) {
    attempts.signal?.throwIfAborted();
    try {
      const result = await attempt();
      return isUnclear && repeated !== undefined ? repeated : result;
    } catch (error) {
      isUnclear ||= error instanceof TailraceError && error.sideEffects === "unknown";
      if (made >= attempts.policy.attempts || !mayRepeat(error, attempts.repeatable)) throw error;
      await sleep(delayMs(attempts.policy, made, error), attempts.signal);
    }
  }
}

/** Returns whether the error can pass and a repetition of the attempt does nothing twice. */
export function mayRepeat(error: unknown, repeatable: boolean): error is TailraceError {
  if (!(error instanceof TailraceError) || !error.retryable) return false;
  return repeatable || error.sideEffects === "none";
}

/**
 * Returns the pause after the attempt number `made` (from 1). It is never shorter than the server requested.
 */
export function delayMs(policy: RetryPolicy, made: number, error?: TailraceError): number {
  const longest = Math.min(policy.firstDelayMs * 2 ** (made - 1), policy.maxDelayMs);
  return Math.max(longest * (0.5 + Math.random() / 2), (error?.retryAfterS ?? 0) * 1000);
}
