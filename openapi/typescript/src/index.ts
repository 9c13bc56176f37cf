/**
 * Tailrace from TypeScript: streams, consumer groups and tails over HTTP, Server-Sent Events and WebSocket.
 *
 * Start at `Tailrace`. `api` has one generated function for each operation of the server.
 */
export { Tailrace } from "./client.js";
export type { TailraceOptions } from "./client.js";
export type {
  CommandWord,
  DeliveredPage,
  Positions,
  ReadBounds,
  ReadGroupOptions,
  ReadStreamsOptions,
} from "./commands.js";
export type { Waiting } from "./calls.js";
export { Consumer } from "./consumer/consumer.js";
export type { BatchOptions, RunOptions } from "./consumer/consumer.js";
export { Batch, Item } from "./consumer/item.js";
export type { Later } from "./consumer/item.js";
export type { CheckedOptions, ConsumerHooks, ConsumerOptions, Named, Outcome } from "./consumer/options.js";
export { bytesOf } from "./entries.js";
export type { Delivered, Entry, EntryForm, Fields, Value } from "./entries.js";
export { TailraceError } from "./errors.js";
export type { SideEffects } from "./errors.js";
export { Following } from "./following.js";
export { Group } from "./group.js";
export type {
  AutoclaimOptions,
  ClaimOptions,
  CreateGroupOptions,
  GroupReadOptions,
  GroupSettings,
  PendingEntry,
  PendingOptions,
  Scan,
} from "./group.js";
export { DEFAULT_RETRY } from "./retry.js";
export type { RetryPolicy } from "./retry.js";
export type { AckOptions, NackOptions } from "./settling.js";
export { Stream } from "./stream.js";
export type { StreamHead, StreamSettings } from "./stream.js";
export type {
  AppendBatchOptions,
  AppendManyOptions,
  AppendOptions,
  ImportOptions,
  KeyOptions,
  Lines,
  ProducerOptions,
} from "./stream-appends.js";
export type { ScheduledEntry, ScheduleOptions } from "./stream-schedule.js";
export type { ExportOptions, Page, ReadAfterOptions, ReadOptions } from "./stream-reads.js";
export type { Gap, StreamEntry, TailOptions } from "./tail.js";
export { Session } from "./websocket/session.js";
export type { RequestOptions } from "./websocket/session.js";
export type { Request } from "./websocket/messages.js";
export type { SocketConstructor, SocketLike } from "./websocket/sockets.js";
export type {
  ConsumeOptions,
  Delivery,
  StreamPosition,
  SubscribeOptions,
} from "./websocket/subscriptions.js";
export * as api from "./generated/index.js";
