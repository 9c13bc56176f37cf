/**
 * Samples of a group while the tab is open: lag, time behind, pending entries, deliveries.
 */
import { identity, type Name } from "../names";
import { sample } from "../samples";
import type { Group, Stream } from "../streams";
import { duration, msOf } from "../time";

/** How often the tab asks for groups and consumers. */
export const EVERY_MS = 2_000;

export function subject(what: string, key: Name, group: Group): string {
  return `${what} ${identity(key)} ${identity(group.name)}`;
}

export function sampleGroup(key: Name, group: Group, stream: Stream | undefined): void {
  if (group.lag !== null) sample(subject("lag", key, group), group.lag);
  if (group.read !== null) sample(subject("read", key, group), group.read);
  sample(subject("pending", key, group), group.pending);
  const behind = behindMs(group, stream);
  if (behind !== undefined) sample(subject("behind", key, group), behind / 1000);
}

/** How far the group's position is behind the newest entry, by the times of their ids. */
export function behindMs(group: Group, stream: Stream | undefined): number | undefined {
  if (group.lag === 0) return 0;
  const last = msOf(stream?.lastId);
  const position = msOf(group.lastDeliveredId);
  return last === undefined || position === undefined ? undefined : Math.max(0, last - position);
}

export function behindText(ms: number | undefined): string {
  return ms === undefined ? "–" : ms === 0 ? "0 s" : duration(ms);
}
