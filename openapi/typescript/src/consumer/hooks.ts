/**
 * Calls the hooks of a consumer. `options.ts` has their protocol.
 *
 * A hook never changes what the consumer does: an error of a hook is reported to the console, and the
 * consumer continues. This module imports no package for tracing; `handling` is where a tracer wraps the
 * handler.
 */
import type { Item } from "./item.js";
import type { CheckedOptions, ConsumerHooks } from "./options.js";

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
