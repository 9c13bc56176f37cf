/**
 * Hooks: what a consumer reports while it works, for logs, metrics and traces.
 *
 * A hook never changes what the consumer does: an error of a hook is reported to the console, and the
 * consumer continues. This module imports no package for tracing; `handling` is where a tracer wraps the
 * handler.
 */
import type { CheckedOptions } from "./options.js";
import type { Item } from "./item.js";

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
  /** Called when a read failed; the next attempt follows after `delayMs`. */
  readFailed?(consumer: CheckedOptions, error: unknown, delayMs: number): void;
}

/** Calls the hooks of one consumer. */
export class Hooking {
  constructor(private readonly options: CheckedOptions) {}

  /** Calls a method of each hook that has it. */
  each(call: (hook: ConsumerHooks, options: CheckedOptions) => void): void {
    for (const hook of this.options.hooks) {
      try {
        call(hook, this.options);
      } catch (error) {
        reported(error);
      }
    }
  }

  /**
   * Calls the handler inside of all hooks, exactly once, and throws only the handler's error: also if a hook
   * throws, hides the error, or does not call the handler.
   */
  async handling(items: readonly Item[], handler: () => Promise<void>): Promise<void> {
    let called: Promise<void> | undefined;
    const once = () => (called ??= handler());
    const wrapped = this.options.hooks.reduceRight<() => Promise<void>>(
      (next, hook) => async () => hook.handling?.(this.options, items, next) ?? next(),
      once,
    );
    try {
      await wrapped();
    } catch (error) {
      const own = await once().then(
        () => false,
        (thrown: unknown) => thrown === error,
      );
      if (!own) reported(error);
    }
    await once();
  }
}

function reported(error: unknown): void {
  console.error("a hook of a consumer failed", error);
}
