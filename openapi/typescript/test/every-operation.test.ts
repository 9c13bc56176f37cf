/** Every operation of the published document is a method of the hand-written layer. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import type { Stream, Tailrace } from "tailrace-client";

import { client, fresh, take, url, wanted } from "./server.js";

const LINES = '{"n":"1"}\n';
const FINISHED = /^tailrace_requests_total\{operation="(\w+)",status="2\d\d"\} (\S+)/gm;
const first = <T>(items: AsyncGenerator<T, void, undefined>) => take(items, 1);

type Call = (tailrace: Tailrace, stream: Stream) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  create_stream: (_, stream) => stream.create(),
  xadd: (_, stream) => stream.append({ n: "1" }, { id: "1-1" }),
  xadd_batch: (_, stream) => stream.appendBatch([{ n: "2" }, { n: "3" }]),
  list_scheduled: async (_, stream) => {
    await stream.schedule({ n: "4" }, { delayMs: 3_600_000 });
    return first(stream.scheduled());
  },
  cancel_scheduled: async (_, stream) =>
    stream.cancelScheduled(await stream.schedule({ n: "4" }, { delayMs: 3_600_000 })),
  import_entries: (_, stream) =>
    stream.importLines(LINES, {
      producerId: "p",
      producerEpoch: 1,
      producerLayout: "1 part",
      idempotencyKey: "k",
    }),
  check_import: (_, stream) => stream.checkLines(LINES),
  export_entries: (_, stream) => first(stream.read()),
  xrange: (_, stream) => stream.readAfter("0"),
  get_entry: (_, stream) => stream.get("1-1"),
  split_entries: (_, stream) => stream.split(2),
  seek_entries: (_, stream) => stream.seek(2),
  xread: (tailrace, stream) => tailrace.read({ [stream.key]: "0" }),
  tail: (_, stream) => first(stream.tail({ after: "0" })),
  tail_streams: (tailrace, stream) => first(tailrace.tail(stream.key, { after: "0" })),
  list_streams: (tailrace, stream) => first(tailrace.streams(stream.key)),
  xinfo_stream: (_, stream) => stream.info(),
  head_stream: (_, stream) => stream.exists(),
  xlen: (_, stream) => stream.length(),
  xsetid: (_, stream) => stream.setId("99999999999999-0"),
  get_producer: (_, stream) => stream.producer("p"),
  take_over_epoch: (_, stream) =>
    stream.takeOver("p", { epoch: 1, replaces: "1 part", layout: "2 parts", keys: 1 }),
  xcfgset: (_, stream) => stream.configure({ idmpDurationS: 60 }),
  xgroup_create: (_, stream) => stream.group("g").create({ after: "0" }),
  xgroup_createconsumer: (_, stream) => stream.group("g").createConsumer("alice"),
  xreadgroup: (_, stream) => stream.group("g").read({ consumer: "alice" }),
  xinfo_groups: (_, stream) => stream.groups(),
  xinfo_group: (_, stream) => stream.group("g").info(),
  xinfo_consumers: (_, stream) => stream.group("g").consumers(),
  xpending: (_, stream) => first(stream.group("g").pending()),
  xpending_summary: (_, stream) => stream.group("g").pendingSummary(),
  xclaim: (_, stream) => stream.group("g").claim({ consumer: "bob", minIdleMs: 0, ids: ["1-1"] }),
  extend: (_, stream) => stream.group("g").extend("bob", ["1-1"]),
  xautoclaim: (_, stream) => stream.group("g").autoclaim({ consumer: "bob", minIdleMs: 0 }),
  xnack: (_, stream) => stream.group("g").nack(["1-1"]),
  xack: (_, stream) => stream.group("g").ack(["1-1"]),
  configure_group: (_, stream) =>
    stream.group("g").configure({ max_deliveries: 3, dead_letter_stream: `${stream.key}:dead` }),
  redrive: (_, stream) => stream.group("g").redrive(),
  xgroup_setid: (_, stream) => stream.group("g").setPosition("0"),
  xgroup_delconsumer: (_, stream) => stream.group("g").deleteConsumer("alice"),
  xgroup_destroy: (_, stream) => stream.group("g").destroy(),
  delete_entry: (_, stream) => stream.deleteEntry("1-1"),
  xdel: (_, stream) => stream.deleteEntries(["1-1", "2-1"]),
  xtrim: (_, stream) => stream.trim({ max_length: 1 }),
  delete_stream: (_, stream) => stream.delete(),
  command: (tailrace, { key }) => tailrace.command(["XLEN", key]),
  pipeline: (tailrace, { key }) => tailrace.pipeline([["XLEN", key]]),
  transaction: (tailrace, { key }) => tailrace.transaction([["XLEN", key]]),
  get_limits: (tailrace) => tailrace.limits(),
  healthz: (tailrace) => tailrace.ping(),
  readyz: (tailrace) => tailrace.isReady(),
  create_ticket: (tailrace) => tailrace.createTicket(),
  show_access: (tailrace) => tailrace.access(),
  show_server: (tailrace) => tailrace.server(),
  slow_log: (tailrace) => tailrace.slowLog(),
  clear_slow_log: (tailrace) => tailrace.clearSlowLog(),
  problem_page: (tailrace) => tailrace.explain("NOGROUP"),
};

async function succeeded(operation: string): Promise<number> {
  const headers = { Authorization: `Bearer ${wanted("TAILRACE_TOKEN")}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return [...text.matchAll(FINISHED)]
    .filter(([, name]) => name === operation)
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}

test("there is a call for each operation of the document", () => {
  const path = new URL("../../../openapi.json", import.meta.url);
  const { paths } = JSON.parse(readFileSync(path, "utf8")) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId)
    .filter((name) => name !== undefined);
  assert.deepEqual(Object.keys(CALLS).sort(), operations.sort());
});

test("each operation is carried out by a method of the client", async () => {
  const tailrace = client();
  const stream = tailrace.stream(fresh("every/é"));
  for (const [operation, call] of Object.entries(CALLS)) {
    const before = await succeeded(operation);
    await call(tailrace, stream);
    // A tail is counted when it is closed.
    while ((await succeeded(operation)) <= before);
  }
});

test("streams, heads, ranges and several reads return what the stream has", async () => {
  const tailrace = client();
  const stream = tailrace.stream(fresh("reads"));
  assert.equal(await stream.head(), undefined);
  assert.equal(await stream.create({ idmpDurationS: 60 }), true);
  assert.deepEqual(
    await stream.appendBatch([{ n: "1" }, { n: "2" }, { n: "3" }], { ids: ["1-1", "1-2", "1-3"] }),
    ["1-1", "1-2", "1-3"],
  );
  const head = await stream.head();
  assert.deepEqual([head?.length, head?.firstId, head?.lastId], [3, "1-1", "1-3"]);
  assert.deepEqual(
    (await take(stream.readReverse(), 2)).map(({ id }) => id),
    ["1-3", "1-2"],
  );
  assert.deepEqual(
    (await stream.last(2)).map(({ id }) => id),
    ["1-2", "1-3"],
  );
  assert.deepEqual((await stream.get("1-2"))?.fields, { n: "2" });
  assert.equal(await stream.get("9-9"), undefined);
  const page = await stream.readAfter("1-1", { count: 1 });
  assert.deepEqual([page.entries.map(({ id }) => id), page.next], [["1-2"], "1-2"]);
  const pages = await tailrace.read({ [stream.key]: "1-2" });
  assert.deepEqual(
    pages.get(stream.key)?.entries.map(({ id }) => id),
    ["1-3"],
  );
  assert.deepEqual(await take(stream.exportLines({ shape: "fields", fields: ["n"] }), 1), ['{"n":"1"}']);
  assert.equal(await stream.deleteEntry("1-1"), true);
  assert.equal(await stream.deleteEntry("1-1"), false);
  assert.equal((await take(tailrace.tail({ [stream.key]: "1-2" }), 1))[0]?.key, stream.key);
});

test("an append carries its trace context, epoch and layout", async () => {
  const stream = client().stream(fresh("producers"));
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const options = {
    idempotencyKey: "1",
    producerId: "p",
    producerEpoch: 7,
    producerLayout: "one",
    traceparent,
  };
  const id = await stream.append({ n: "1" }, options);
  assert.equal(await stream.append({ n: "1" }, options), id);
  assert.equal((await stream.get(id))?.fields["traceparent"], traceparent);
  assert.equal((await stream.producer("p")).epochs[0]?.epoch, 7);
  await assert.rejects(stream.append({ n: "1" }, { producerEpoch: 7 }), { code: "INVALID_ARGUMENT" });
});
