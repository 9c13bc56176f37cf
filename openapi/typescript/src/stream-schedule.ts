/**
 * Entries that the server appends later: append with a delay, list and cancel.
 *
 * This module owns the form of these calls. The generated client sends the requests.
 */
import type { Waiting } from "./calls.js";
import { type Fields, toWire } from "./entries.js";
import { refusedHere } from "./errors.js";
import * as api from "./generated/index.js";
import { isMissing } from "./missing.js";
import { StreamAppends, headersOf } from "./stream-appends.js";

/** Pass either `delayMs` or `deliverAtMs`. */
export interface ScheduleOptions extends Waiting {
  /** After how many milliseconds to append. */
  readonly delayMs?: number;
  /** When to append, in Unix milliseconds. */
  readonly deliverAtMs?: number;
  /** Refuse the append (404) if the stream does not exist, instead of creating it. */
  readonly nomkstream?: boolean;
  /** Schedules once for each key of a producer, and is repeated after a lost response. */
  readonly idempotencyKey?: string;
  readonly producerId?: string;
}

/** An entry that the server appends later. `id` is its scheduled id, not the id of an entry. */
export interface ScheduledEntry {
  readonly id: string;
  readonly deliverAtMs: number;
  readonly fields: Readonly<Record<string, string>>;
  /** Names and values in order. Present if a name is repeated. */
  readonly pairs?: readonly (readonly [string, string])[];
  /** `base64` if a name or value is not UTF-8. */
  readonly encoding?: "base64";
}

export abstract class StreamSchedule extends StreamAppends {
  /** Appends one entry later, and returns its scheduled id. Until then no reader sees the entry. */
  async schedule(fields: Fields, options: ScheduleOptions): Promise<string> {
    const { delayMs, deliverAtMs, nomkstream, signal } = options;
    if ((delayMs === undefined) === (deliverAtMs === undefined))
      throw refusedHere("pass either delayMs or deliverAtMs");
    const body = { ...toWire(fields), delay_ms: delayMs, deliver_at_ms: deliverAtMs, nomkstream };
    const append = { path: this.path, body, headers: headersOf(options) };
    const called = { repeatable: options.idempotencyKey !== undefined, signal };
    const reply = await this.calls.call((common) => api.xadd({ ...common, ...append }), called);
    return "scheduled_id" in reply ? reply.scheduled_id : reply.id;
  }

  /** Yields the scheduled entries in the order of their times, read page by page. */
  async *scheduled(options: Waiting = {}): AsyncGenerator<ScheduledEntry, void, undefined> {
    for (let after: string | undefined, more = true; more; ) {
      const query: { limit: number; after?: string } = { limit: 1_000, after };
      const request = { path: this.path, query };
      const page: api.ScheduledPage = await this.calls.call(
        (common) => api.listScheduled({ ...common, ...request }),
        { repeatable: true, ...options },
      );
      yield* page.scheduled.map(fromWire);
      after = page.next ?? undefined;
      more = page.next !== null;
    }
  }

  /** Cancels a scheduled entry. Returns false if it was appended or cancelled before. */
  async cancelScheduled(id: string, options: Waiting = {}): Promise<boolean> {
    const path = { ...this.path, id };
    try {
      await this.calls.call((common) => api.cancelScheduled({ ...common, path }), {
        repeatable: false,
        ...options,
      });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }
}

function fromWire(entry: api.ScheduledEntry): ScheduledEntry {
  const { scheduled_id: id, deliver_at_ms: deliverAtMs, fields, pairs, encoding } = entry;
  return {
    id,
    deliverAtMs,
    fields: fields ?? Object.fromEntries(pairs ?? []),
    ...(pairs ? { pairs: pairs as [string, string][] } : {}),
    ...(encoding ? { encoding } : {}),
  };
}
