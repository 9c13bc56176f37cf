/**
 * Response bodies that are read as they arrive: as pieces of text, and as lines.
 *
 * This module owns the body it receives: it cancels the body if the caller stops early. It knows no format.
 */
import { connectionLost } from "./errors.js";
import { within } from "./waiting.js";

export interface Reading {
  readonly signal?: AbortSignal | undefined;
  /** The longest time without data, for a server that promises to send something earlier. */
  readonly silenceMaxMs?: number;
}

/**
 * Yields the text of a body, piece by piece. Throws CONNECTION_LOST if the body breaks off or stays silent
 * too long.
 */
export async function* textOf(body: ReadableStream<Uint8Array>, reading: Reading): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), reading.silenceMaxMs);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reading.signal?.throwIfAborted();
    throw connectionLost(error);
  } finally {
    // After a broken body there is nothing to cancel, and the error is of no interest.
    reader.cancel().catch(() => undefined);
  }
}

/** Yields the lines of a body, without their ends. Throws CONNECTION_LOST if the body ends inside a line. */
export async function* linesOf(body: ReadableStream<Uint8Array>, reading: Reading): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textOf(body, reading)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") throw connectionLost(new Error("the body ended inside a line"));
}

function inTime<T>(read: Promise<T>, maxMs: number | undefined): Promise<T> {
  if (maxMs === undefined) return read;
  return within(read, maxMs, () => new Error(`no data arrived for ${maxMs} ms`));
}
