/**
 * The forms above the entries: jump, filter, follow. Each changes the URL, which has the range.
 */
import { useState } from "preact/hooks";
import { go, href } from "../router";
import { readTime, useZone, written } from "../time";
import { IdTime } from "../ui";
import type { Given } from "./stream";

/** The forms above the entries. Each changes the URL. */
export function Toolbar({ streamKey, parameters }: Given) {
  const [zone] = useZone();
  const [place, setPlace] = useState("");
  const [error, setError] = useState("");
  const [field, setField] = useState(parameters.get("field") ?? "");
  const [value, setValue] = useState(parameters.get("value") ?? "");
  const [condition, setCondition] = useState(parameters.get("filter") ?? "");
  const [isCondition, setIsCondition] = useState(parameters.has("filter"));
  const wanted = isCondition ? { filter: condition } : { field, value };
  const isLive = parameters.get("live") === "1";
  const isAll = !["start", "end", "field", "filter", "live"].some((name) => parameters.has(name));
  const range = { start: parameters.get("start") ?? undefined, end: parameters.get("end") ?? undefined };
  const jump = () => {
    const ms = readTime(place, zone);
    const end = ms === undefined ? place.trim() : String(ms);
    if (!/^\d+(-\d+)?$/.test(end)) {
      setError(
        `'${place}' is neither a time such as ${written(Date.now(), zone, false)} nor an id such as 1692632086370-0`,
      );
      return;
    }
    setError("");
    go(href("stream", { key: streamKey, end }));
  };
  return (
    <>
      <div class="toolbar">
        <form
          class="bar"
          onSubmit={(event) => {
            event.preventDefault();
            jump();
          }}
        >
          <input
            class="mono"
            aria-label={`Jump to a time (${zone === "utc" ? "UTC" : "local"}) or an id`}
            placeholder="Time or id"
            value={place}
            onInput={(event) => setPlace(event.currentTarget.value)}
          />
          <button type="submit">Jump</button>
        </form>
        <form
          class={isCondition ? "bar grow" : "bar"}
          onSubmit={(event) => {
            event.preventDefault();
            go(href("stream", { key: streamKey, ...range, ...wanted, live: isLive ? "1" : undefined }));
          }}
        >
          <select
            aria-label="How to filter"
            value={isCondition ? "condition" : "field"}
            onChange={(event) => setIsCondition(event.currentTarget.value === "condition")}
          >
            <option value="field">Field</option>
            <option value="condition">Condition</option>
          </select>
          {isCondition ? (
            <input
              class="mono grow"
              aria-label="Condition"
              placeholder={'double(fields.speed) > 29.5 && fields.rider == "Norem"'}
              value={condition}
              onInput={(event) => setCondition(event.currentTarget.value)}
            />
          ) : (
            <>
              <input
                class="short"
                aria-label="Name of the field to filter by"
                placeholder="Name"
                value={field}
                onInput={(event) => setField(event.currentTarget.value)}
              />
              <span aria-hidden="true">=</span>
              <input
                class="short"
                aria-label="Value of the field"
                placeholder="Value"
                value={value}
                onInput={(event) => setValue(event.currentTarget.value)}
              />
            </>
          )}
          <button type="submit">Filter</button>
        </form>
        {!isCondition && <span class="grow" />}
        {!isAll && (
          <a class="button" href={href("stream", { key: streamKey })}>
            Newest entries
          </a>
        )}
        {!isLive && (
          <a class="button main" href={href("stream", { key: streamKey, ...wanted, live: "1" })}>
            Follow live
          </a>
        )}
      </div>
      {error !== "" && (
        <p class="why" role="alert">
          {error}
        </p>
      )}
      {(range.start !== undefined || range.end !== undefined) && !isLive && <RangeNote range={range} />}
    </>
  );
}

function RangeNote({ range }: { range: { start: string | undefined; end: string | undefined } }) {
  return (
    <p class="quiet small">
      {range.start === undefined ? (
        "Entries"
      ) : (
        <>
          Entries from <IdTime id={range.start} /> ({range.start})
        </>
      )}
      {range.end !== undefined && (
        <>
          {" "}
          up to <IdTime id={range.end} /> ({range.end})
        </>
      )}
      , newest first
    </p>
  );
}
