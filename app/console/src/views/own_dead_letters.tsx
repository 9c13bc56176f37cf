/**
 * The dead letters of a group that has a dead-letter stream as a setting: how many there are, and the way back.
 *
 * The server redrives them. It examines a bounded number in one step, and the page continues where that step ended.
 */
import { useState } from "preact/hooks";
import { many } from "../format";
import { useAction, useLoaded } from "../hooks";
import { Outcome, Problem } from "../messages";
import { type Name, shown } from "../names";
import { href } from "../router";
import { send } from "../server";
import { findStream, groupPath } from "../streams";
import { Act } from "../ui";

const EXAMINED = 100;

interface Redriven {
  readonly redriven: readonly unknown[];
  readonly skipped: number;
  readonly next: string | null;
}

export function OwnDeadLetters({ streamKey, group, own }: { streamKey: Name; group: Name; own: Name }) {
  const letters = useLoaded((signal) => findStream(own, signal), "letters");
  const [start, setStart] = useState("-");
  const action = useAction();
  const length = letters.data?.length ?? 0;
  const redrive = () =>
    action.run(async () => {
      const body = { start, limit: EXAMINED };
      const path = groupPath(streamKey, group, ":redrive");
      const reply = await send<Redriven>("POST", path, { body });
      letters.reload();
      setStart(reply.next ?? "-");
      return [
        `${many(reply.redriven.length, "dead letter", "dead letters")} appended to this stream again, as new entries, and removed from ${shown(own)}.`,
        ...(reply.skipped > 0 ? [`${reply.skipped} stay: they are not of this group.`] : []),
        ...(reply.next === null ? [] : ["There are more: Redrive continues."]),
      ].join(" ");
    });
  return (
    <section>
      <h2>Dead letters</h2>
      <p class="quiet">
        The server moves entries of {shown(group)} to <span class="mono">{shown(own)}</span>. Redriving
        appends up to {EXAMINED} of them to this stream again, as new entries for all groups, and removes them
        there, in one step.
      </p>
      <div class="toolbar">
        <span>
          {length === 0 ? (
            <span class="quiet">There are no dead letters.</span>
          ) : (
            <a href={href("stream", { key: own })}>
              {many(length, "entry", "entries")} in {shown(own)}
            </a>
          )}
        </span>
        <span class="grow" />
        <Act
          needs="admin"
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
