/**
 * Times as the page shows them: in UTC or local time, chosen once, with the relative time beside.
 *
 * This module owns the choice, which the browser remembers. It reads times from ids, which stay strings.
 */
import { useEffect, useState } from "preact/hooks";

export type Zone = "utc" | "local";

const ZONE = "tailrace-zone";
const watchers = new Set<() => void>();

/** Returns the chosen zone, and follows the choice. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useState(zoneNow);
  useEffect(() => {
    const follow = () => setZone(zoneNow());
    watchers.add(follow);
    return () => void watchers.delete(follow);
  }, []);
  return [zone, choose];
}

function choose(zone: Zone): void {
  localStorage.setItem(ZONE, zone);
  watchers.forEach((follow) => follow());
}

export function zoneNow(): Zone {
  return localStorage.getItem(ZONE) === "local" ? "local" : "utc";
}

/** Returns the milliseconds of an id if they are a time between 2001 and 2286, otherwise undefined. */
export function msOf(id: string | null | undefined): number | undefined {
  const digits = id?.split("-")[0] ?? "";
  return /^[1-9]\d{12}$/.test(digits) ? Number(digits) : undefined;
}

/** Returns a time such as `2026-11-24 05:57:49.591`, in the zone. */
export function written(ms: number, zone: Zone, precise = true): string {
  const at = new Date(zone === "utc" ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000);
  const text = at.toISOString().replace("T", " ").replace("Z", "");
  return precise ? text : text.slice(0, 19);
}

/** Returns the time of day only, such as `05:57:49`. */
export function clock(ms: number, zone: Zone): string {
  return written(ms, zone, false).slice(11);
}

/** Returns the milliseconds of a text such as `2026-11-24 05:57`, read in the zone; undefined if it is no time. */
export function readTime(text: string, zone: Zone): number | undefined {
  const found =
    /^\s*(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?\s*(Z?)\s*$/i.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const parts = [
    year!,
    month! - 1,
    day!,
    hour,
    minute,
    second,
    Number((found[7] ?? "0").padEnd(3, "0")),
  ] as const;
  const ms = zone === "utc" || found[8] ? Date.UTC(...parts) : new Date(...parts).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns a duration in its largest unit, such as `3 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${Math.round(Math.max(0, ms))} ms`;
  if (seconds < 90) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Returns a duration as a whole number of its largest unit, such as `90 min`, for `readDuration`. */
export function exactDuration(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms % unitMs === 0)!;
  return `${ms / unitMs} ${unit}`;
}

/** Returns the milliseconds of a text such as `90 min`; a number alone has days, and any other text is NaN. */
export function readDuration(text: string): number {
  const [, number, name] = /^([\d.]+)\s*([a-z]*)$/.exec(text) ?? [];
  const [, unitMs] = UNITS.find(([unit]) => unit === (name || "d")) ?? [];
  return Number(number) * (unitMs ?? NaN);
}

/** Returns the time from then to now, such as `3 min ago`. */
export function ago(ms: number, now = Date.now()): string {
  const passed = now - ms;
  if (passed < -1_000) return `in ${duration(-passed)}`;
  return passed < 1_000 ? "just now" : `${duration(passed)} ago`;
}
