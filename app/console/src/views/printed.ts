/** Replies in Redis's words, as redis-cli prints them. */

const LINES_MAX = 2_000;

export function printed(reply: unknown): string {
  const lines = linesOf(reply);
  if (lines.length <= LINES_MAX) return lines.join("\n");
  return [...lines.slice(0, LINES_MAX), `(${lines.length - LINES_MAX} more lines)`].join("\n");
}

function linesOf(reply: unknown): string[] {
  if (reply === null || reply === undefined) return ["(nil)"];
  if (typeof reply === "number") return [`(integer) ${reply}`];
  if (typeof reply === "string")
    return [reply.includes("\r\n") ? reply.replaceAll("\r", "") : JSON.stringify(reply)];
  if (!Array.isArray(reply)) return [JSON.stringify(reply)];
  if (reply.length === 0) return ["(empty array)"];
  const width = String(reply.length).length;
  return reply.flatMap((each, index) => {
    const [first, ...rest] = linesOf(each);
    const number = `${String(index + 1).padStart(width)}) `;
    return [number + first, ...rest.map((line) => " ".repeat(number.length) + line)];
  });
}
