/**
 * Lines over time as SVG, with and without axes. A plot with axes has a table with the same numbers for screen readers.
 *
 * This module draws numbers. It never loads any.
 */
import { count } from "./format";
import { clock, useZone, written } from "./time";

export interface Point {
  readonly ms: number;
  readonly value: number;
}

/** A small line without axes, for a cell of a table. */
export function Spark({ points, label }: { points: readonly Point[]; label: string }) {
  if (points.length < 2) return <span class="quiet small">…</span>;
  const most = Math.max(...points.map((point) => point.value), 1e-9);
  const first = points[0]!.ms;
  const span = points[points.length - 1]!.ms - first || 1;
  const steps = points.map(
    ({ ms, value }) =>
      `${(((ms - first) / span) * 78 + 1).toFixed(1)},${(19 - (value / most) * 17).toFixed(1)}`,
  );
  const last = points[points.length - 1]!.value;
  return (
    <svg
      class="spark"
      viewBox="0 0 80 20"
      role="img"
      aria-label={`${label}: ${round(last)} now, at most ${round(most)}`}
    >
      <polygon class="area" points={`1,20 ${steps.join(" ")} 79,20`} />
      <polyline class="line" points={steps.join(" ")} />
    </svg>
  );
}

interface LinesProps {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly Point[];
  readonly format?: (value: number) => string;
  /** What to say while there is no line. */
  readonly empty?: string | undefined;
}

const WIDTH = 380;
const HEIGHT = 140;
const LEFT = 44;
const BOTTOM = 22;
const ROWS_MAX = 30;
const SOON = "The line begins with the second sample, in a few seconds.";

/** A line over time with axes. */
export function Line({ title, unit, points, format = count, empty = SOON }: LinesProps) {
  const [zone] = useZone();
  if (points.length < 2) {
    return (
      <figure class="plot">
        <figcaption>{title}</figcaption>
        <p class="quiet small">{empty}</p>
      </figure>
    );
  }
  const first = points[0]!.ms;
  const span = points[points.length - 1]!.ms - first || 1;
  const top = ceiling(Math.max(...points.map((point) => point.value)));
  const x = (ms: number) => LEFT + ((ms - first) / span) * (WIDTH - LEFT - 8);
  const y = (value: number) => 8 + (1 - value / top) * (HEIGHT - BOTTOM - 8);
  const steps = points.map((point) => `${x(point.ms).toFixed(1)},${y(point.value).toFixed(1)}`).join(" ");
  const rows = thinned(points, ROWS_MAX);
  return (
    <figure class="plot">
      <figcaption>
        {title} <span class="quiet">({unit})</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: the table after this plot has the numbers`}
      >
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={WIDTH - 8} y1={y(value)} y2={y(value)} />
            <text class="tick" x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {value === 0 ? "0" : format(value)}
            </text>
          </g>
        ))}
        {[0, 0.5, 1].map((part) => (
          <text
            key={part}
            class="tick"
            x={x(first + part * span)}
            y={HEIGHT - 5}
            text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}
          >
            {clock(first + part * span, zone)}
          </text>
        ))}
        <polygon class="area" points={`${x(first)},${y(0)} ${steps} ${x(first + span)},${y(0)}`} />
        <polyline class="line" points={steps} />
      </svg>
      <div class="hidden">
        <table>
          <caption>{`${title} in ${unit}`}</caption>
          <thead>
            <tr>
              <th>Time</th>
              <th>{unit}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((point) => (
              <tr key={point.ms}>
                <td>{written(point.ms, zone, false)}</td>
                <td>{format(point.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Returns the next round number. */
function ceiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((each) => each * power >= value)!;
  return step * power;
}

function thinned(points: readonly Point[], most: number): Point[] {
  const every = Math.ceil(points.length / most);
  return points.filter((_, index) => index % every === 0 || index === points.length - 1);
}

function round(value: number): string {
  return value < 10 ? value.toFixed(1) : count(Math.round(value));
}
