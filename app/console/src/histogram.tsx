/**
 * Counts over time as bars, in which a range is selected with the pointer or the keyboard.
 *
 * Arrow keys move over the bars, with Shift they extend the range, Enter selects it and Escape drops it. A table has
 * the same numbers for screen readers. This module never loads any.
 */
import { useRef, useState } from "preact/hooks";
import { count } from "./format";
import { useZone, written } from "./time";

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Two bars: where the range began, and where the last key or the pointer is. */
type Range = readonly [number, number];

interface Given {
  readonly bins: readonly Bin[];
  onBrush(from: number, to: number): void;
}

const WIDTH = 1000;
const HEIGHT = 60;

export function Histogram({ bins, onBrush }: Given) {
  const [zone] = useZone();
  const plot = useRef<SVGSVGElement>(null);
  const [brush, setBrush] = useState<readonly [number, number] | undefined>();
  const [range, setRange] = useState<Range | undefined>();
  const first = bins[0]!.from;
  const last = bins[bins.length - 1]!.to;
  const width = WIDTH / bins.length;
  const at = (event: PointerEvent) => {
    const box = plot.current!.getBoundingClientRect();
    return Math.min(WIDTH, Math.max(0, ((event.clientX - box.left) / box.width) * WIDTH));
  };
  const finish = () => {
    if (brush !== undefined && Math.abs(brush[1] - brush[0]) > 4) {
      const [low, high] = [Math.min(...brush), Math.max(...brush)];
      const ms = (x: number) => first + (x / WIDTH) * (last - first);
      onBrush(Math.floor(ms(low)), Math.ceil(ms(high)));
    }
    setBrush(undefined);
  };
  const press = (event: KeyboardEvent) => {
    const next = moved(range, event, bins.length);
    if (next !== undefined) setRange(next);
    else if (event.key === "Enter" && range !== undefined) {
      onBrush(Math.floor(bins[Math.min(...range)]!.from), Math.ceil(bins[Math.max(...range)]!.to));
      setRange(undefined);
    } else if (event.key === "Escape" && range !== undefined) setRange(undefined);
    else return;
    event.preventDefault();
  };
  const marked = brush ?? (range && [Math.min(...range) * width, (Math.max(...range) + 1) * width]);
  return (
    <figure class="plot histogram">
      <div
        class="brushed"
        role="application"
        tabIndex={0}
        aria-label="Entries over time. Arrow keys move, Shift and arrow keys extend the range, Enter selects it."
        onKeyDown={press}
        onBlur={() => setRange(undefined)}
      >
        <svg
          ref={plot}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setRange(undefined);
            setBrush([at(event), at(event)]);
          }}
          onPointerMove={(event) => brush !== undefined && setBrush([brush[0], at(event)])}
          onPointerUp={finish}
          onPointerCancel={() => setBrush(undefined)}
        >
          <Bars bins={bins} />
          {marked && (
            <rect
              class="brush"
              x={Math.min(marked[0]!, marked[1]!)}
              y={0}
              width={Math.abs(marked[1]! - marked[0]!)}
              height={HEIGHT}
            />
          )}
        </svg>
      </div>
      <div class="ends quiet small">
        <span>{written(first, zone, false)}</span>
        <span class={range === undefined ? "wide-only" : ""} aria-live="polite">
          {range === undefined
            ? "Drag, or use the arrow keys, to select a range"
            : inWords(bins, range, zone)}
        </span>
        <span>{written(last, zone, false)}</span>
      </div>
      <Table bins={bins} />
    </figure>
  );
}

function Bars({ bins }: { bins: readonly Bin[] }) {
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const width = WIDTH / bins.length;
  return (
    <>
      {bins.map((bin, index) => {
        const height = bin.count === 0 ? 0 : Math.max(1.5, (bin.count / most) * (HEIGHT - 2));
        return (
          <rect
            key={bin.from}
            class="bar"
            x={index * width + 0.8}
            y={HEIGHT - height}
            width={width - 1.6}
            height={height}
          />
        );
      })}
    </>
  );
}

function Table({ bins }: { bins: readonly Bin[] }) {
  const [zone] = useZone();
  return (
    <div class="hidden">
      <table>
        <caption>Entries over time</caption>
        <thead>
          <tr>
            <th>From</th>
            <th>Entries</th>
          </tr>
        </thead>
        <tbody>
          {bins
            .filter((bin) => bin.count > 0)
            .map((bin) => (
              <tr key={bin.from}>
                <td>{written(bin.from, zone, false)}</td>
                <td>{Math.round(bin.count)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the range after a key; undefined if the key moves nothing. The first key starts at an end. */
function moved(range: Range | undefined, event: KeyboardEvent, bars: number): Range | undefined {
  const last = bars - 1;
  const start = range?.[1];
  const to = {
    ArrowRight: start === undefined ? 0 : Math.min(last, start + 1),
    ArrowLeft: start === undefined ? last : Math.max(0, start - 1),
    Home: 0,
    End: last,
  }[event.key];
  if (to === undefined) return undefined;
  return [event.shiftKey && range !== undefined ? range[0] : to, to];
}

function inWords(bins: readonly Bin[], range: Range, zone: "utc" | "local"): string {
  const chosen = bins.slice(Math.min(...range), Math.max(...range) + 1);
  const entries = Math.round(chosen.reduce((sum, bin) => sum + bin.count, 0));
  const from = written(chosen[0]!.from, zone, false);
  const to = written(chosen[chosen.length - 1]!.to, zone, false);
  return `${from} to ${to}: about ${count(entries)} entries. Press Enter to select.`;
}
