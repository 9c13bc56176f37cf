/**
 * How an operation of the generated client is called: with a time limit, under the retry policy, its failures
 * made into errors.
 *
 * It owns what all calls have in common. It knows no operation and no path.
 */
import { TailraceError, connectionLost, errorOfProblem, timedOut } from "./errors.js";
import type { Client } from "./generated/client/index.js";
import { type RetryPolicy, withRetries } from "./retry.js";

/** What everything that waits takes. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/** What every operation is given. */
export interface Common {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** What the generated operations answer. */
export interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response?: Response;
}

export interface CallOptions extends Waiting {
  /** Whether carrying it out twice does the same as once, so that a lost answer can be asked for again. */
  readonly repeatable: boolean;
}

export class Calls {
  constructor(
    readonly client: Client,
    readonly policy: RetryPolicy,
    private readonly timeoutMs: number,
  ) {}

  /** What the operation answers, once it succeeds. Throws `TailraceError`, or the signal's reason. */
  call<T>(operation: (common: Common) => Promise<Answer<T>>, options: CallOptions): Promise<NonNullable<T>> {
    const attempts = { policy: this.policy, ...options };
    return withRetries(attempts, () => this.once(operation, options.signal));
  }

  /** The body of an answer that is read as it comes; one attempt, with a time limit until it begins. */
  async open(operation: (common: Common) => Promise<Answer<unknown>>, signal?: AbortSignal) {
    return (await this.once(operation, signal)) as ReadableStream<Uint8Array>;
  }

  /** What the operation answers to one attempt, for whoever makes attempts himself. */
  async once<T>(
    operation: (common: Common) => Promise<Answer<T>>,
    signal?: AbortSignal,
  ): Promise<NonNullable<T>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(timedOut(this.timeoutMs)), this.timeoutMs);
    try {
      const common = { client: this.client, signal: either(limit.signal, signal) };
      return await answered(operation(common), common.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

function either(limit: AbortSignal, signal?: AbortSignal): AbortSignal {
  return signal === undefined ? limit : AbortSignal.any([limit, signal]);
}

async function answered<T>(answering: Promise<Answer<T>>, signal: AbortSignal): Promise<NonNullable<T>> {
  const { data, error, response } = await answering.catch((error: unknown): Answer<T> => ({ error }));
  signal.throwIfAborted();
  if (response?.ok && error === undefined) return data as NonNullable<T>;
  throw response === undefined ? lost(error) : errorOfProblem(error, response);
}

function lost(error: unknown): TailraceError {
  return error instanceof TailraceError ? error : connectionLost(error);
}
