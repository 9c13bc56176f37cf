/**
 * Bodies that are read as they come: as pieces of text, and as lines.
 *
 * It owns the body it was given: whoever stops early has let go of the connection. It knows no format.
 */
import { connectionLost } from "./errors.js";
import { within } from "./waiting.js";

export interface Reading {
  readonly signal?: AbortSignal | undefined;
  /** How long a body may bring nothing, where its server promises to send something before. */
  readonly silenceMaxMs?: number;
}

/** The text of a body, piece by piece. Throws CONNECTION_LOST where the body breaks off or falls silent. */
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
    // Where the body broke off there is nothing to let go of, and that is no news.
    reader.cancel().catch(() => undefined);
  }
}

/** The lines of a body, without their ends. A body that ends within a line broke off. */
export async function* linesOf(body: ReadableStream<Uint8Array>, reading: Reading): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textOf(body, reading)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") throw connectionLost(new Error("the body ended within a line"));
}

function inTime<T>(read: Promise<T>, maxMs: number | undefined): Promise<T> {
  if (maxMs === undefined) return read;
  return within(read, maxMs, () => new Error(`nothing came for ${maxMs} ms`));
}
