/**
 * Iterations that a program can open before it requests their first item.
 *
 * This module owns the order of requests. The iterations below it yield `OPENED` whenever the server has fixed
 * their position.
 */

/** What an iteration yields when its position is fixed. */
export const OPENED = Symbol("opened");

/** Entries as they arrive. Without `open`, the first request for an entry opens the iteration. */
export class Following<T> implements AsyncGenerator<T, void, undefined> {
  #opening: Promise<IteratorResult<T | typeof OPENED, void>> | undefined;
  #isStarted = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly items: AsyncGenerator<T | typeof OPENED, void, undefined>) {}

  /**
   * Opens the iteration: entries that are appended after the promise is fulfilled are returned, also with the
   * position `$`.
   */
  async open(): Promise<this> {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#opening = this.items.next();
    }
    await this.#opening;
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    this.#isStarted = true;
    const result = this.#last.then(() => this.#next());
    this.#last = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<T, void>> {
    return this.items.return() as Promise<IteratorResult<T, void>>;
  }

  throw(error: unknown): Promise<IteratorResult<T, void>> {
    return this.items.throw(error) as Promise<IteratorResult<T, void>>;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<T, void>> {
    let result = await (this.#opening ?? this.items.next());
    this.#opening = undefined;
    while (result.value === OPENED) result = await this.items.next();
    return result as IteratorResult<T, void>;
  }
}
