/**
 * Dead letters: entries that were moved to a stream of their own, and back.
 *
 * A dead letter has the fields of the entry, and where it came from, as the Python SDK writes them.
 */
import { useState } from "preact/hooks";
import type { CommandWord } from "tailrace-client/index";
import { useAction, useLoaded } from "../hooks";
import { type Name, shown } from "../names";
import { href } from "../router";
import { appendThen } from "../server";
import { type Entry, findStream, readEntries } from "../streams";
import { many } from "../format";
import { Outcome, Problem } from "../messages";
import { Act, TextField } from "../ui";

const ORIGIN = ["origin_stream", "origin_group", "origin_id", "deliveries", "last_error"];
const REDRIVEN_MAX = 100;

/** Returns the usual stream for the dead letters of a stream. */
export function deadLettersOf(key: Name): string {
  return `${typeof key === "string" ? key : shown(key)}:dead`;
}

interface Letter {
  readonly streamKey: Name;
  readonly group: Name;
  readonly entry: Entry;
  readonly deliveries: number;
  readonly reason: string;
}

/** Returns the command that appends a dead letter. */
export function deadLetter(target: string, letter: Letter): CommandWord[] {
  const { streamKey, group, entry, deliveries, reason } = letter;
  const origin: CommandWord[] = [
    ...["origin_stream", streamKey, "origin_group", group, "origin_id", entry.id],
    ...["deliveries", String(deliveries), "last_error", reason],
  ];
  // If the reply is lost and the reader tries again, the letter is not appended twice.
  const once: CommandWord[] = ["IDMP", "console", `${shown(streamKey)} ${shown(group)} ${entry.id}`];
  return ["XADD", target, ...once, "*", ...origin, ...wordsOf(entry)];
}

function wordsOf(entry: Entry): CommandWord[] {
  const word = (text: string): CommandWord => (entry.encoding === "base64" ? { base64: text } : text);
  return entry.pairs.flatMap(([name, value]) => [word(name), word(value)]);
}

/** Moves dead letters back to the stream that they came from. */
export function DeadLetters({ streamKey }: { streamKey: Name }) {
  const [from, setFrom] = useState(deadLettersOf(streamKey));
  const letters = useLoaded((signal) => findStream(from === "" ? " " : from, signal), from);
  const action = useAction();
  const length = letters.data?.length ?? 0;
  const redrive = () =>
    action.run(async () => {
      const page = await readEntries(from, { order: "asc", count: REDRIVEN_MAX });
      const own = page.entries.filter((entry) => isFrom(entry, streamKey));
      if (own.length === 0)
        return `None of the oldest ${page.entries.length} dead letters came from this stream.`;
      // The key makes a repetition harmless if the reply is lost before the letters are removed.
      const once = (entry: Entry): CommandWord[] => ["IDMP", "console redrive", `${from} ${entry.id}`];
      const count = await appendThen(
        own.map((entry) => ["XADD", streamKey, ...once(entry), "*", ...wordsOf(withoutOrigin(entry))]),
        (appended) => [["XDEL", from, ...appended.map((index) => own[index]!.id)]],
      );
      letters.reload();
      return `${many(count, "dead letter", "dead letters")} appended to this stream again and removed from ${from}.`;
    });
  return (
    <section>
      <h2>Dead letters</h2>
      <p class="quiet">
        Redriving appends the fields of the oldest {REDRIVEN_MAX} dead letters of this stream to it again, as
        new entries, and removes those that were appended from the dead letters.
      </p>
      <div class="toolbar">
        <TextField label="Stream of dead letters" class="mono" value={from} onInput={setFrom} />
        <span>
          {letters.data === undefined ? (
            <span class="quiet">has no dead letters</span>
          ) : (
            <a href={href("stream", { key: from })}>{many(length, "dead letter", "dead letters")}</a>
          )}
        </span>
        <span class="grow" />
        <Act
          needs={["append", "admin", "read"]}
          on={streamKey}
          off={length === 0 ? "There are no dead letters." : undefined}
          onClick={() => void redrive()}
        >
          Redrive
        </Act>
      </div>
      {letters.error && <Problem error={letters.error} retry={letters.reload} />}
      <Outcome action={action} />
    </section>
  );
}

function isFrom(entry: Entry, key: Name): boolean {
  return entry.pairs.some(([name, value]) => name === "origin_stream" && value === key);
}

/** Only the first five pairs tell the origin; the entry may have fields of the same names. */
function withoutOrigin(entry: Entry): Entry {
  const isOrigin = entry.pairs.slice(0, ORIGIN.length).every(([name], index) => name === ORIGIN[index]);
  return { ...entry, pairs: isOrigin ? entry.pairs.slice(ORIGIN.length) : entry.pairs };
}
