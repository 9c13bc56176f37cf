/**
 * When a failed attempt is made again, and after which time.
 *
 * It owns the policy. What is attempted, and whether repeating it is harmless, its callers say:
 * an attempt that may have been carried out is repeated only where it is `repeatable`.
 */
import { TailraceError } from "./errors.js";
import { sleep } from "./waiting.js";

export interface RetryPolicy {
  /** Attempts in all; 1 is no retry. */
  readonly attempts: number;
  /** The pause after the first; each one after it is twice as long, and shortened by chance to spread clients. */
  readonly firstDelayMs: number;
  /** No pause is longer, unless the server asks for it. */
  readonly maxDelayMs: number;
}

/** Eleven seconds or so in all: longer than a server takes to restart. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 100, maxDelayMs: 5_000 };

/** What a loop of attempts needs to know. */
export interface Attempts {
  readonly policy: RetryPolicy;
  /** Whether carrying it out twice does the same as once. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of the first attempt that succeeds. Throws the last error, or the signal's reason. */
export async function withRetries<T>(attempts: Attempts, attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    attempts.signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (made >= attempts.policy.attempts || !mayRepeat(error, attempts.repeatable)) throw error;
      await sleep(delayMs(attempts.policy, made, error), attempts.signal);
    }
  }
}

/** Whether an error passes by itself and the attempt can be made again without doing something twice. */
export function mayRepeat(error: unknown, repeatable: boolean): error is TailraceError {
  if (!(error instanceof TailraceError) || !error.retryable) return false;
  return repeatable || error.sideEffects === "none";
}

/** The pause after the attempt number `made` (from 1): never shorter than the server asked for. */
export function delayMs(policy: RetryPolicy, made: number, error?: TailraceError): number {
  const longest = Math.min(policy.firstDelayMs * 2 ** (made - 1), policy.maxDelayMs);
  return Math.max(longest * (0.5 + Math.random() / 2), (error?.retryAfterS ?? 0) * 1000);
}
