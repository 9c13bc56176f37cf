/**
 * Waits for a time, for a promise with a time limit, and for a promise until a signal is aborted.
 *
 * This module owns its timers and listeners, and removes all of them.
 */

const TIMER_MAX_MS = 2 ** 31 - 1;

/** Returns the time for a timer: at most 24 days, because a timer with a longer time fires at once. */
export function timerMs(durationMs: number): number {
  return Math.min(durationMs, TIMER_MAX_MS);
}

/** Waits. Throws the reason of the signal as soon as the signal is aborted. */
export async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(durationMs));
  });
  try {
    await abortable(over, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the result of the promise. If it takes longer than `maxMs`, throws the error that `late` returns.
 */
export async function within<T>(promise: Promise<T>, maxMs: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timerMs(maxMs));
  });
  try {
    return await Promise.race([promise, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the result of the promise. If the signal is aborted earlier, throws its reason. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  let aborted = (): void => undefined;
  const unwanted = new Promise<never>((_, reject) => {
    aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
  });
  signal.addEventListener("abort", aborted, { once: true });
  try {
    return await Promise.race([promise, unwanted]);
  } finally {
    signal.removeEventListener("abort", aborted);
  }
}
