/**
 * The command that stores an entry as a dead letter after too many deliveries. This module sends nothing.
 *
 * A dead letter has the fields `origin_stream`, `origin_group`, `origin_id`, `deliveries` and `last_error`,
 * followed by the fields of the entry, as in the Python SDK. The command has the id of the entry as its
 * idempotency key, so a repetition stores nothing.
 */
import type { CommandWord } from "../commands.js";
import type { Delivered } from "../entries.js";
import type { CheckedOptions } from "./options.js";

export function wordsOf(
  entry: Delivered,
  { group, deadLetterStream }: CheckedOptions,
  deliveries: number,
  error: string,
): CommandWord[] {
  const letter = {
    origin_stream: entry.key,
    origin_group: group,
    origin_id: entry.id,
    deliveries: String(deliveries),
    last_error: error,
  };
  const pairs = entry.pairs ?? Object.entries(entry.fields);
  const word = (text: string) => (entry.encoding === "base64" ? { base64: text } : text);
  const target = deadLetterStream ?? `${entry.key}:dead`;
  const producer = JSON.stringify([entry.key, group]);
  return [
    ...["XADD", target, "IDMP", producer, entry.id, "*"],
    ...Object.entries(letter).flat(),
    ...pairs.flat().map(word),
  ];
}
