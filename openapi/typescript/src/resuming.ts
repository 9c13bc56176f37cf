/**
 * Iterations that outlive their connection.
 *
 * It owns when a broken iteration is begun anew. Where it goes on, whoever opens it knows.
 */
import { type RetryPolicy, delayMs, mayRepeat } from "./retry.js";
import { sleep } from "./waiting.js";

export interface Resuming {
  /** Its attempts count from the last item: an iteration that gets on is never given up. */
  readonly policy: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  /** Whether it is never given up, even while nothing comes. */
  isSteadfast?(): boolean;
  /** What the server asks of those who come back. */
  delayMinMs?(): number;
}

/** All that the iterations which `open` begins give, one after another, until one ends by itself. */
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
  return made >= resuming.policy.attempts && resuming.isSteadfast?.() !== true;
}
