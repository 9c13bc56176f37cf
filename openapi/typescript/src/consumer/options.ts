/**
 * The options of a consumer, checked, and the protocol of its hooks. This module sends nothing.
 */
import { checkedName } from "../entries.js";
import { refusedHere } from "../errors.js";
import type * as api from "../generated/index.js";
import type { Item } from "./item.js";

export interface ConsumerOptions {
  /** One stream or several. */
  readonly streams: string | readonly string[];
  readonly group: string;
  /** The name of the consumer. Two consumers that run at the same time need two names. */
  readonly consumer: string;
  /**
   * Also take over entries that have been pending for any consumer for this long; a minute by default. While
   * an item is being processed, its lease is extended, so this may be shorter than the processing. Also the
   * default overrides the group's own `claim_min_idle_ms`; give the same value to keep to it. null: take over
   * only entries that are idle for the group's `claim_min_idle_ms`, none without that setting; extend no lease,
   * and begin with the entries that are pending for this name.
   */
  readonly claimMinIdleMs?: number | null;
  /**
   * An entry that was delivered this many times is moved to the dead letters. If the group has a limit of its
   * own, the server applies that one instead.
   */
  readonly maxDeliveries?: number;
  /** The stream of the dead letters; `<stream>:dead` by default. */
  readonly deadLetterStream?: string;
  /**
   * `wait`, the default: a failed entry is delivered again after `claimMinIdleMs`. `nack`: it is returned to
   * the group and delivered again to a consumer that claims: after `retryDelayMs`, without it after the backoff
   * of the group, or at once.
   */
  readonly onFailure?: "wait" | "nack";
  readonly retryDelayMs?: number;
  /**
   * The name of a field, or a function of the fields. Entries with the same value are processed one after
   * another, in the order of arrival; others at the same time.
   */
  readonly orderBy?: string | ((fields: Readonly<Record<string, string>>) => unknown);
  /** Whether leases are extended during the processing; true by default. */
  readonly extendLeases?: boolean;
  /** The most entries that wait for a worker; 100 by default. */
  readonly batch?: number;
  /** How long one read waits, which is also how long a stop can take; 1 000 by default. */
  readonly waitMs?: number;
  /** Create missing streams and groups, also if they disappear later; true by default. */
  readonly createGroup?: boolean;
  /** The group that is created begins after this id; `0-0` by default. */
  readonly after?: string;
  /**
   * Settings of the group, such as `max_deliveries` and `filter`. The consumer sets them on each stream when it
   * starts and when it creates the group; this needs the scope `admin`. Dead letters go to `<stream>:dead` by
   * default. Settings that are missing stay as they are.
   */
  readonly settings?: api.GroupSettingsBody;
  /**
   * A read waits until so many entries are available, or until `lingerMs` after the first one, or until the end of
   * `waitMs`.
   */
  readonly minCount?: number;
  readonly lingerMs?: number;
  /** Objects that observe the consumer. */
  readonly hooks?: readonly ConsumerHooks[];
  /** Stops the consumer gracefully when it is aborted, like `stop`. */
  readonly signal?: AbortSignal;
}

/** The options with their defaults. Hooks receive this object. */
export interface CheckedOptions
  extends Required<
    Omit<
      ConsumerOptions,
      | "maxDeliveries"
      | "deadLetterStream"
      | "orderBy"
      | "settings"
      | "minCount"
      | "lingerMs"
      | "retryDelayMs"
      | "signal"
      | "streams"
    >
  > {
  readonly streams: readonly string[];
  readonly maxDeliveries: number | undefined;
  readonly deadLetterStream: string | undefined;
  readonly orderBy: ConsumerOptions["orderBy"];
  readonly settings: ConsumerOptions["settings"];
  readonly minCount: number | undefined;
  readonly lingerMs: number | undefined;
  readonly retryDelayMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** `failed`: the items will be delivered again. `returned`: no worker started them before the stop. */
export type Outcome = "acknowledged" | "nacked" | "failed" | "dead_letter" | "returned";

/** An entry of the consumer: its stream and id. */
export interface Named {
  readonly key: string;
  readonly id: string;
}

/** The protocol of hooks. All methods are optional, and must return quickly. */
export interface ConsumerHooks {
  /** Called before the first read of a run or loop. */
  started?(consumer: CheckedOptions): void;
  /** Called at the end of a run or loop, after the last settlement. */
  stopped?(consumer: CheckedOptions): void;
  /** Called after a read, with the number of entries that it returned from this stream. */
  received?(consumer: CheckedOptions, key: string, count: number): void;
  /**
   * Surrounds one call of the handler: calls `next` once and returns its promise. `items` has one item in
   * `run`, and all items of the batch in `runBatches`.
   */
  handling?(consumer: CheckedOptions, items: readonly Item[], next: () => Promise<void>): Promise<void>;
  /** Called for each item whose handler threw, and by `item.fail`. `settled` follows. */
  failed?(consumer: CheckedOptions, item: Named, error: unknown): void;
  /** Called after items were settled. */
  settled?(consumer: CheckedOptions, items: readonly Named[], outcome: Outcome): void;
  /**
   * Called when the consumer learns that items are lost: another consumer has claimed them, or they are no longer
   * pending. `settled` does not follow.
   */
  lost?(consumer: CheckedOptions, items: readonly Named[]): void;
  /** Called when a read failed; the next attempt follows after `delayMs`. */
  readFailed?(consumer: CheckedOptions, error: unknown, delayMs: number): void;
}

const WAIT_MAX_MS = 60_000;
const DEFAULTS = {
  claimMinIdleMs: 60_000,
  onFailure: "wait" as const,
  extendLeases: true,
  batch: 100,
  waitMs: 1_000,
  createGroup: true,
  after: "0-0",
  hooks: [],
  maxDeliveries: undefined,
  deadLetterStream: undefined,
  orderBy: undefined,
  settings: undefined,
  minCount: undefined,
  lingerMs: undefined,
  retryDelayMs: undefined,
  signal: undefined,
};

/** Returns the options with their defaults. Throws INVALID_ARGUMENT. */
export function checked(options: ConsumerOptions): CheckedOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const streams = typeof options.streams === "string" ? [options.streams] : [...options.streams];
  const all = { ...DEFAULTS, ...claimTime(options), ...(given as unknown as ConsumerOptions), streams };
  if (streams.length === 0) throw refusedHere("streams is empty; pass at least one key");
  streams.forEach((key) => checkedName(key, "the stream's key"));
  if (new Set(streams).size < streams.length) throw refusedHere("streams names a stream twice");
  checkedName(all.group, "the group's name");
  checkedName(all.consumer, "the consumer's name");
  inRange("batch", all.batch, 1);
  inRange("waitMs", all.waitMs, 0, WAIT_MAX_MS);
  if (all.claimMinIdleMs !== null) inRange("claimMinIdleMs", all.claimMinIdleMs, 0);
  if (all.maxDeliveries !== undefined) inRange("maxDeliveries", all.maxDeliveries, 1);
  for (const target of [all.deadLetterStream, all.settings?.dead_letter_stream])
    if (target !== undefined && streams.includes(target))
      throw refusedHere(`the dead-letter stream ${target} is one of the streams; use another stream`);
  if (all.minCount !== undefined) inRange("minCount", all.minCount, 1, all.batch);
  if (all.lingerMs !== undefined) inRange("lingerMs", all.lingerMs, 0);
  if (all.lingerMs !== undefined && all.minCount === undefined)
    throw refusedHere(`lingerMs ${all.lingerMs} needs minCount; pass both`);
  if (all.retryDelayMs !== undefined) inRange("retryDelayMs", all.retryDelayMs, 0);
  if (all.retryDelayMs !== undefined && all.onFailure !== "nack")
    throw refusedHere(`retryDelayMs ${all.retryDelayMs} needs onFailure nack; pass both`);
  if (!["wait", "nack"].includes(all.onFailure))
    throw refusedHere(`onFailure is ${String(all.onFailure)}; use wait or nack`);
  return all;
}

/** Returns the claim time of the settings. Throws INVALID_ARGUMENT if the consumer asks for another one. */
function claimTime({ claimMinIdleMs: given, settings }: ConsumerOptions): { claimMinIdleMs?: number } {
  const own = settings?.claim_min_idle_ms;
  if (own === undefined) return {};
  if (given !== undefined && given !== own)
    throw refusedHere(
      `claimMinIdleMs ${String(given)} differs from ${own} in the settings; leave out one of them`,
    );
  return { claimMinIdleMs: own };
}

/** Returns the value if it is an integer in this range. Throws INVALID_ARGUMENT. */
export function inRange(name: string, value: number, least: number, greatest = Infinity): number {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value;
  const allowed = greatest === Infinity ? `at least ${least}` : `from ${least} to ${greatest}`;
  throw refusedHere(`${name} is ${String(value)}; it must be an integer, ${allowed}`);
}
