/**
 * Converts lines of `text/event-stream` to events.
 *
 * This module owns the format. Unlike a reader of messages only, it also yields blocks without data: the
 * server opens a tail with its position, which a client needs if the connection breaks before the first
 * entry. It also reads the server's own line `incarnation`.
 */

/** One block, up to its blank line. Members that the block does not contain are missing. */
export interface ServerSentEvent {
  event?: string;
  data?: string;
  id?: string;
  incarnation?: string;
  retryMs?: number;
}

/** Yields the blocks of the lines. */
export async function* eventsOf(lines: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let block: ServerSentEvent = {};
  for await (const line of lines) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text === "") {
      yield block;
      block = {};
    } else {
      read(text, block);
    }
  }
}

function read(line: string, block: ServerSentEvent): void {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "event") block.event = value;
  if (name === "id") block.id = value;
  if (name === "incarnation") block.incarnation = value;
  if (name === "data") block.data = block.data === undefined ? value : `${block.data}\n${value}`;
  if (name === "retry" && /^\d+$/.test(value)) block.retryMs = Number(value);
}
