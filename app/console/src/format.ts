/**
 * Numbers as text: counts, rates, sizes. Times are in `time.ts`.
 */

/** Returns a count with separators, such as `10 000`. No line breaks in it. */
export function count(value: number): string {
  return value.toLocaleString("en-US").replaceAll(",", "\u202f");
}

/** Returns a rate, such as `12.5/s`. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "–";
  return `${perSecond === 0 ? "0" : perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))}/s`;
}

/** Returns a number of bytes, such as `1.5 MB`. */
export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  const unit = value < 1e6 ? "kB" : value < 1e9 ? "MB" : "GB";
  const scaled = value / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${unit}`;
}

/** Returns `1 entry` or `2 entries`. */
export function many(value: number, one: string, others = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : others}`;
}
