/**
 * Waiting: for a time, for a promise at most so long, for a promise until nobody wants it any more.
 *
 * It owns its timers and listeners, and leaves none behind.
 */

/** Wait. Throws the signal's reason as soon as it is aborted. */
export async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, durationMs);
  });
  try {
    await abortable(over, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What the promise gives, unless it takes longer than `maxMs`: then `late` is thrown. */
export async function within<T>(promise: Promise<T>, maxMs: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), maxMs);
  });
  try {
    return await Promise.race([promise, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the promise gives, unless the signal is aborted before: then its reason is thrown. */
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
