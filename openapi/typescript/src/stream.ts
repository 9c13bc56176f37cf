/**
 * One stream: its state and settings. `stream-appends.ts` and `stream-reads.ts` contain its entries, and
 * `group.ts` its groups.
 *
 * This module owns the calls that concern the stream as a whole. The generated client sends them.
 */
import type { Waiting } from "./calls.js";
import * as api from "./generated/index.js";
import { Group } from "./group.js";
import { isMissing } from "./missing.js";
import { StreamReads } from "./stream-reads.js";

/** The settings of a stream. Those that are missing stay as they are. */
export interface StreamSettings {
  /** For how many seconds the stream remembers an idempotency key. */
  readonly idmpDurationS?: number;
  /** How many keys of each producer it remembers. */
  readonly idmpMaxsize?: number;
  /**
   * The rules by which the server removes the oldest entries, such as `{ max_age_ms: 86_400_000 }`. They replace all
   * earlier rules; null removes these.
   */
  readonly retention?: api.RetentionBody | null;
}

/** The length and the ids of a stream. */
export interface StreamHead {
  readonly length: number;
  /** The id of the first entry; null if the stream is empty. */
  readonly firstId: string | null;
  /** The last id that the stream issued, also if that entry is deleted. */
  readonly lastId: string;
  /** It differs from that of every other stream, including an earlier stream with the same key. */
  readonly incarnation: string | null;
}

/** A stream by its key. Creating this object sends no request. */
export class Stream extends StreamReads {
  /** Returns the consumer group with this name. This sends no request. */
  group(name: string): Group {
    return new Group(this.key, name, this.calls, this.session);
  }

  /** Returns the number of entries; 0 if the stream does not exist. */
  async length(options: Waiting = {}): Promise<number> {
    const called = { repeatable: true, ...options };
    return (await this.calls.call((common) => api.xlen({ ...common, path: this.path }), called)).length;
  }

  /** Returns the length and the ids of the stream; undefined if it does not exist. */
  async head(options: Waiting = {}): Promise<StreamHead | undefined> {
    const operation = (common: object) => api.headStream({ ...common, path: this.path });
    try {
      const headers = await this.calls.headers(operation, { repeatable: true, ...options });
      return {
        length: Number(headers.get("X-Stream-Length")),
        firstId: headers.get("X-First-Id"),
        lastId: headers.get("X-Last-Id") ?? "0-0",
        incarnation: headers.get("X-Incarnation"),
      };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Returns whether the stream exists. */
  async exists(options: Waiting = {}): Promise<boolean> {
    return (await this.head(options)) !== undefined;
  }

  /** Returns the state of the stream. `full`: also entries, groups and consumers, at most `count` of each. */
  info(
    options: Waiting & { readonly full?: boolean; readonly count?: number } = {},
  ): Promise<api.StreamState> {
    const { full, count, signal } = options;
    const request = { path: this.path, query: { full, count } };
    const called = { repeatable: true, signal };
    return this.calls.call((common) => api.xinfoStream({ ...common, ...request }), called);
  }

  /** Returns the state of every consumer group. */
  async groups(options: Waiting = {}): Promise<api.Group[]> {
    const called = { repeatable: true, ...options };
    return (await this.calls.call((common) => api.xinfoGroups({ ...common, path: this.path }), called))
      .groups;
  }

  /** Creates an empty stream. Returns false if the stream exists; given settings are changed then. */
  async create(options: StreamSettings & Waiting = {}): Promise<boolean> {
    const settings = settingsOf(options);
    const request = { path: this.path, ...(Object.keys(settings).length > 0 && { body: settings }) };
    const called = { repeatable: true, signal: options.signal };
    return (await this.calls.call((common) => api.createStream({ ...common, ...request }), called)).created;
  }

  /** Changes settings. If one of idempotency keys changes, the stream forgets its keys. */
  async configure(settings: StreamSettings, options: Waiting = {}): Promise<void> {
    const request = { path: this.path, body: settingsOf(settings) };
    const called = { repeatable: true, ...options };
    await this.calls.call((common) => api.xcfgset({ ...common, ...request }), called);
  }

  /** Sets the last id of the stream and its counters (XSETID). */
  async setId(
    lastId: string,
    options: Waiting & { readonly entriesAdded?: number; readonly maxDeletedId?: string } = {},
  ): Promise<void> {
    const { entriesAdded, maxDeletedId, signal } = options;
    const body = { last_id: lastId, entries_added: entriesAdded, max_deleted_id: maxDeletedId };
    const request = { path: this.path, body };
    const called = { repeatable: false, signal };
    await this.calls.call((common) => api.xsetid({ ...common, ...request }), called);
  }

  /** Returns the epochs of a producer that the stream remembers. */
  producer(producerId: string, options: Waiting = {}): Promise<api.ProducerState> {
    const path = { ...this.path, producer: producerId };
    const called = { repeatable: true, ...options };
    return this.calls.call((common) => api.getProducer({ ...common, path }), called);
  }

  /** Gives an epoch of a producer another layout; appends with the former layout fail from now on. */
  async takeOver(producerId: string, body: api.TakeOverBody, options: Waiting = {}): Promise<void> {
    const request = { path: { ...this.path, producer: producerId }, body };
    const called = { repeatable: true, ...options };
    await this.calls.call((common) => api.takeOverEpoch({ ...common, ...request }), called);
  }

  /** Deletes the stream with its groups. */
  async delete(options: Waiting = {}): Promise<void> {
    const called = { repeatable: false, ...options };
    await this.calls.call((common) => api.deleteStream({ ...common, path: this.path }), called);
  }
}

function settingsOf({ idmpDurationS, idmpMaxsize, retention }: StreamSettings): api.StreamSettings {
  return {
    ...(idmpDurationS !== undefined && { idmp_duration_s: idmpDurationS }),
    ...(idmpMaxsize !== undefined && { idmp_maxsize: idmpMaxsize }),
    // The generated type lacks null, which the server takes.
    ...(retention !== undefined && { retention: retention as api.RetentionBody }),
  };
}
