/**
 * Samples of counters, kept while the tab is open: rates, and lag over time.
 *
 * This module owns how many samples are kept and how a rate follows from them. The server keeps no history, so a
 * line begins when its subject is first seen.
 */
import type { Point } from "./plots";

/** A quarter of an hour at a sample every two seconds. */
const SAMPLES_MAX = 450;
const SUBJECTS_MAX = 2_000;
const series = new Map<string, Point[]>();

/** Adds a sample, and returns all of the subject, oldest first. */
export function sample(subject: string, value: number, ms = Date.now()): readonly Point[] {
  let points = series.get(subject);
  if (points === undefined) {
    if (series.size >= SUBJECTS_MAX) series.delete(series.keys().next().value!);
    series.set(subject, (points = []));
  }
  const last = points[points.length - 1];
  if (last === undefined || ms - last.ms >= 500) points.push({ ms, value });
  if (points.length > SAMPLES_MAX) points.splice(0, points.length - SAMPLES_MAX);
  return points;
}

export function samplesOf(subject: string): readonly Point[] {
  return series.get(subject) ?? [];
}

/** Returns the changes per second between the samples of a counter that only rises. */
export function ratesOf(points: readonly Point[]): Point[] {
  return points.slice(1).map(({ ms, value }, index) => {
    const before = points[index]!;
    return { ms, value: Math.max(0, (value - before.value) / ((ms - before.ms) / 1000)) };
  });
}

/** Returns the mean rate of the last ten seconds; undefined before the second sample. */
export function rateNow(points: readonly Point[]): number | undefined {
  const last = points[points.length - 1];
  const from = points.find((point) => last !== undefined && last.ms - point.ms <= 10_500);
  if (last === undefined || from === undefined || from === last) return undefined;
  return Math.max(0, (last.value - from.value) / ((last.ms - from.ms) / 1000));
}
