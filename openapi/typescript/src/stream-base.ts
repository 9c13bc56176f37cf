/**
 * What all parts of a `Stream` share: its key, and the ways to the server. This module sends nothing.
 */
import type { Calls } from "./calls.js";
import { checkedName } from "./entries.js";
import type { Session } from "./websocket/session.js";

export abstract class StreamBase {
  constructor(
    readonly key: string,
    protected readonly calls: Calls,
    protected readonly session: Session,
  ) {
    checkedName(key, "the stream's key");
  }

  /** The path parameters of every operation. */
  protected get path() {
    return { key: this.key };
  }
}
