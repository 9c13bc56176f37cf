/**
 * Calls of the generated client's operations, with a time limit, the retry policy, and failures as errors.
 *
 * This module owns what all calls have in common. It knows no operation and no path.
 */
import { TailraceError, connectionLost, errorOfProblem, timedOut } from "./errors.js";
import type { Client } from "./generated/client/index.js";
import { type RetryPolicy, withRetries } from "./retry.js";
import { timerMs } from "./waiting.js";

/** Options of every operation that waits. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/** Arguments of every generated operation. */
export interface Common {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** The result of a generated operation. */
export interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response?: Response;
}

export interface CallOptions extends Waiting {
  /** Whether a repetition has no further effect, so that the call can be repeated after a lost response. */
  readonly repeatable: boolean;
}

/** Calls operations of the generated client. */
export class Calls {
  constructor(
    readonly client: Client,
    readonly policy: RetryPolicy,
    private readonly timeoutMs: number,
  ) {}

  /**
   * Returns the result of the operation once it succeeds. Throws `TailraceError`, or the reason of the
   * signal. `repeated`: the result after a lost response, if that of the repetition says nothing.
   */
  call<T>(
    operation: (common: Common) => Promise<Answer<T>>,
    options: CallOptions,
    repeated?: NonNullable<T>,
  ): Promise<NonNullable<T>> {
    const attempts = { policy: this.policy, ...options };
    return withRetries(attempts, () => this.once(operation, options.signal), repeated);
  }

  /** Returns the headers of the response once the operation succeeds. */
  headers(operation: (common: Common) => Promise<Answer<unknown>>, options: CallOptions): Promise<Headers> {
    const attempts = { policy: this.policy, ...options };
    return withRetries(attempts, async () => {
      let headers = new Headers();
      const noted = (common: Common) =>
        operation(common).then((answer) => {
          headers = answer.response?.headers ?? headers;
          return answer;
        });
      await this.once(noted, options.signal);
      return headers;
    });
  }

  /**
   * Returns the body of a response that is read as it arrives. One attempt, with a time limit until the
   * response begins.
   */
  async open(operation: (common: Common) => Promise<Answer<unknown>>, signal?: AbortSignal) {
    return (await this.once(operation, signal)) as ReadableStream<Uint8Array>;
  }

  /** Returns the result of one attempt, for callers that repeat attempts themselves. */
  async once<T>(
    operation: (common: Common) => Promise<Answer<T>>,
    signal?: AbortSignal,
  ): Promise<NonNullable<T>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(timedOut(this.timeoutMs)), timerMs(this.timeoutMs));
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
