/**
 * Lines of `text/event-stream` to events.
 *
 * It owns the format. Unlike what reads only messages it also gives blocks without data: the server opens a tail
 * with its position, and a client that is cut off before the first entry needs it.
 */

/** One block, up to its blank line. Members that it does not name are not there. */
export interface ServerSentEvent {
  event?: string;
  data?: string;
  id?: string;
  retryMs?: number;
}

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
  if (name === "data") block.data = block.data === undefined ? value : `${block.data}\n${value}`;
  if (name === "retry" && /^\d+$/.test(value)) block.retryMs = Number(value);
}
