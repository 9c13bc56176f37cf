/**
 * Iterations that continue after a broken connection.
 *
 * This module decides when a broken iteration is opened again. The function that opens it knows where to
 * continue.
 */
import { type RetryPolicy, delayMs, mayRepeat } from "./retry.js";
import { sleep } from "./waiting.js";

export interface Resuming {
  /**
   * The retry policy. Attempts count from the last item, so an iteration that makes progress is never given
   * up.
   */
  readonly policy: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  /** Whether to continue without limit, even if no items arrive. */
  neverGivesUp?(): boolean;
  /** The pause that the server requests before a client connects again. */
  delayMinMs?(): number;
}

/** Yields the items of the iterations that `open` returns, one after another, until one ends normally. */
export async function* resumed<T>(
  resuming: Resuming,
  open: () => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  for (let made = 1; ; made++) {
    resuming.signal?.throwIfAborted();
    try {
      for await (const item of open()) {
        made = 0;
        yield item;
      }
      return;
    } catch (error) {
      if (isGivenUp(resuming, made) || !mayRepeat(error, true)) throw error;
      const pauseMs = delayMs(resuming.policy, Math.max(made, 1), error);
      await sleep(Math.max(pauseMs, resuming.delayMinMs?.() ?? 0), resuming.signal);
    }
  }
}

function isGivenUp(resuming: Resuming, made: number): boolean {
  return made >= resuming.policy.attempts && resuming.neverGivesUp?.() !== true;
}
