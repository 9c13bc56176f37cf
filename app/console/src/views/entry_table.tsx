/** A table of entries: id, time, fields. Long values are cut; the entry's own view has all of them. */
import { type Name } from "../names";
import { href } from "../router";
import { type Entry } from "../streams";
import { IdTime } from "../ui";

/** Long enough to recognise a value, short enough for a row. */
const SHOWN_MAX = 160;
const FIELDS_MAX = 12;

export function EntryTable({ streamKey, entries }: { streamKey: Name; entries: readonly Entry[] }) {
  return (
    <div class="scroll" role="region" aria-label="Entries" tabIndex={0}>
      <table class="rows entries">
        <thead>
          <tr>
            <th scope="col">Id</th>
            <th scope="col">Time</th>
            <th scope="col">Fields</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <th scope="row" class="mono">
                <a href={href("entry", { key: streamKey, id: entry.id })}>{entry.id}</a>
              </th>
              <td class="when">
                <IdTime id={entry.id} />
              </td>
              <td>
                <Fields entry={entry} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Fields({ entry }: { entry: Entry }) {
  const hidden = entry.pairs.length - FIELDS_MAX;
  return (
    <ul class="pairs">
      {entry.pairs.slice(0, FIELDS_MAX).map(([name, value], index) => (
        <li key={index}>
          <span class="quiet">{cut(name, 60)}</span> <bdi>{cut(value, SHOWN_MAX)}</bdi>
        </li>
      ))}
      {hidden > 0 && <li class="quiet">and {hidden} more</li>}
      {entry.encoding && <li class="tag">base64</li>}
    </ul>
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
