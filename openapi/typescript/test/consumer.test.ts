/** The consumer: loops, handlers, batches, order, dead letters, hooks, stops and lost connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import {
  Consumer,
  type ConsumerHooks,
  type ConsumerOptions,
  type Item,
  type Tailrace,
  type TailraceError,
  api,
} from "tailrace-client";

import { FaultyLine } from "./faulty-line.js";
import { client, fresh, occasion, restart, take } from "./server.js";

async function filled(count: number, tailrace: Tailrace = client()) {
  const stream = tailrace.stream(fresh("jobs"));
  const ids = await stream.appendBatch(
    Array.from({ length: count }, (_, n) => ({ n: String(n), lane: String(n % 3) })),
  );
  const group = stream.group("g");
  const make = (options: Partial<ConsumerOptions> = {}) =>
    new Consumer(tailrace, { streams: stream.key, group: "g", consumer: "alice", waitMs: 100, ...options });
  const pending = async () => {
    const all = [];
    for await (const { id, consumer, deliveries } of group.pending()) all.push([id, consumer, deliveries]);
    return all;
  };
  return { tailrace, stream, group, ids, make, pending };
}

test("a loop yields the entries, and what was read ahead is returned at the stop", async () => {
  const { ids, make, pending } = await filled(5);
  const consumer = make();
  const seen: string[] = [];
  for await (const item of consumer) {
    seen.push(item.id);
    await item.ack();
    assert.equal(item.isSettled, true);
    if (seen.length === 2) consumer.stop();
  }
  assert.deepEqual(seen, ids.slice(0, 2));
  assert.deepEqual(
    await pending(),
    ids.slice(2).map((id) => [id, null, 0]),
  );
});

test("an entry is acknowledged only after its handler, and handlers run at the same time", async () => {
  const { make, pending } = await filled(8);
  const consumer = make();
  const together = occasion();
  let done = 0;
  let most = 0;
  await consumer.run(
    async (item) => {
      assert.ok((await pending()).some(([id]) => id === item.id));
      if (++most === 4) together.comes();
      await together.came;
      if (++done === 8) consumer.stop();
    },
    { concurrency: 4 },
  );
  assert.equal(done, 8);
  assert.deepEqual(await pending(), []);
});

test("batches have at most their size, and single items can be settled alone", async () => {
  const { ids, make, pending } = await filled(5);
  const consumer = make({ claimMinIdleMs: 3_600_000 });
  const sizes: number[] = [];
  for await (const batch of consumer.batches({ size: 3 })) {
    sizes.push(batch.length);
    if (sizes.length === 1) await batch[0]?.nack();
    await batch.ack();
    if (sizes.length === 2) consumer.stop();
  }
  assert.deepEqual(sizes, [3, 2]);
  assert.deepEqual(await pending(), [[ids[0], null, 1]]);
});

test("a batch waits for more entries until it is full or its time is over", async () => {
  const { stream, make } = await filled(1);
  const consumer = make();
  const sizes: number[] = [];
  await consumer.runBatches(
    async (batch) => {
      sizes.push(batch.length);
      consumer.stop();
    },
    { size: 2, fillMs: 20 },
  );
  const appending = stream.append({ n: "x" });
  await consumer.runBatches(
    (batch) => {
      sizes.push(batch.length);
      consumer.stop();
    },
    { size: 1, fillMs: 60_000 },
  );
  await appending;
  assert.deepEqual(sizes, [1, 1]);
});

test("entries of one key keep their order with several workers", async () => {
  const { make, pending } = await filled(60);
  const consumer = make({ orderBy: "lane", batch: 10 });
  const seen = new Map<string, number[]>();
  const busy = new Set<string>();
  let count = 0;
  await consumer.run(
    async ({ fields }) => {
      const lane = fields["lane"] ?? "";
      assert.ok(!busy.has(lane));
      busy.add(lane);
      await new Promise((resolve) => setImmediate(resolve));
      seen.set(lane, [...(seen.get(lane) ?? []), Number(fields["n"])]);
      busy.delete(lane);
      if (++count === 60) consumer.stop();
    },
    { concurrency: 8 },
  );
  for (const numbers of seen.values())
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
  assert.deepEqual(await pending(), []);
});

test("an entry that fails every time becomes a dead letter, with its bytes, and the log says so", async (context) => {
  const errors = context.mock.method(console, "error", () => undefined);
  const { tailrace, stream, make, pending } = await filled(0 + 1);
  await stream.append([
    ["10", "a"],
    ["9", new Uint8Array([255])],
  ]);
  const consumer = make({ maxDeliveries: 2, claimMinIdleMs: 20 });
  let tries = 0;
  await consumer.run(() => {
    if (++tries === 4) consumer.stop();
    throw new RangeError("cannot be done");
  });
  assert.deepEqual(await pending(), []);
  const letters = await take(
    tailrace.stream(`${stream.key}:dead`).read({ shape: "pairs", encoding: "base64" }),
    2,
  );
  const texts = letters.map((letter) =>
    (letter.pairs ?? []).map((pair) => pair.map((text) => Buffer.from(text, "base64").toString("latin1"))),
  );
  const other = texts.find((pairs) => pairs.some(([name]) => name === "10")) ?? [];
  assert.deepEqual(other.slice(3), [
    ["deliveries", "2"],
    ["last_error", "RangeError: cannot be done"],
    ["10", "a"],
    ["9", "\xff"],
  ]);
  const said = errors.mock.calls.map(({ arguments: [text, error] }) => [text as string, error as unknown]);
  assert.equal(
    said.filter(([text, error]) => /^the handler of .* failed$/.test(text as string) && error).length,
    4,
  );
  assert.equal(said.filter(([text]) => (text as string).startsWith(`dead letter: ${stream.key} `)).length, 2);
});

test("the group's own limit is used, and the server moves the entry", async () => {
  const { tailrace, stream, group, ids, make, pending } = await filled(1);
  await group.create({ after: "0" });
  await group.configure({ max_deliveries: 2, dead_letter_stream: `${stream.key}:of the group` });
  const consumer = make({ maxDeliveries: 1, onFailure: "nack" });
  let tries = 0;
  await consumer.run(() => {
    if (++tries === 2) consumer.stop();
    throw new Error("poison");
  });
  assert.equal(tries, 2);
  assert.deepEqual(await pending(), []);
  const [letter] = await take(tailrace.stream(`${stream.key}:of the group`).read(), 1);
  assert.equal(letter?.fields["_source_id"], ids[0]);
  assert.equal(await tailrace.stream(`${stream.key}:dead`).exists(), false);
});

test("hooks see each outcome, and a hook that throws or hides errors changes nothing", async (context) => {
  context.mock.method(console, "error", () => undefined);
  const { ids, make, pending } = await filled(4);
  const outcomes: Record<string, number> = {};
  const counting: ConsumerHooks = {
    settled: (_, items, outcome) => (outcomes[outcome] = (outcomes[outcome] ?? 0) + items.length),
  };
  const hiding: ConsumerHooks = {
    started: () => assert.fail("a hook"),
    handling: async (_consumer, items, next) => {
      if (items[0]?.fields["n"] === "0") return;
      await next().catch(() => undefined);
      throw new Error("a hook");
    },
  };
  const consumer = make({ hooks: [hiding, counting], maxDeliveries: 1 });
  const handled: string[] = [];
  await consumer.run(({ fields }) => {
    handled.push(fields["n"] ?? "");
    if (fields["n"] === "1") throw new Error("poison");
    if (fields["n"] === "2") consumer.stop();
  });
  assert.deepEqual(handled, ["0", "1", "2"]);
  assert.deepEqual(outcomes, { acknowledged: 2, dead_letter: 1, returned: 1 });
  assert.deepEqual(await pending(), [[ids[3], null, 0]]);
});

test("an aborted signal stops it when the current handlers are done, also twice", async () => {
  const { ids, make, pending } = await filled(3);
  const stopping = new AbortController();
  const consumer = make({ signal: stopping.signal });
  const seen: string[] = [];
  await consumer.run(async (item) => {
    stopping.abort();
    stopping.abort();
    consumer.stop();
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(item.id);
  });
  assert.deepEqual(seen, ids.slice(0, 1));
  assert.deepEqual(await pending(), [
    [ids[1], null, 0],
    [ids[2], null, 0],
  ]);
});

test("the lease of long work is extended", async () => {
  const { group, ids, make } = await filled(1);
  const consumer = make({ claimMinIdleMs: 1_200 });
  for await (const item of consumer) {
    // The server waits more than twice as long as the lease for the entry to become idle.
    assert.deepEqual(await group.read({ consumer: "bob", claimMinIdleMs: 1_200, waitMs: 3_000 }), []);
    await item.ack();
    consumer.stop();
  }
  assert.equal(ids.length, 1);
});

test("a lease of any length is extended no more often than it needs", async (context) => {
  const { make, group } = await filled(1);
  const consumer = make({ claimMinIdleMs: Number.MAX_SAFE_INTEGER });
  const extend = context.mock.method(Object.getPrototypeOf(group), "extend");
  await consumer.run(async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    consumer.stop();
  });
  assert.equal(extend.mock.callCount(), 0);
});

for (const ending of ["returns", "throws"])
  test(`an item that another claimed says so and is settled no more, if its handler ${ending}`, async (context) => {
    const warn = context.mock.method(console, "warn", () => undefined);
    const error = context.mock.method(console, "error", () => undefined);
    const { stream, group, ids, make, pending } = await filled(1);
    const lost: string[] = [];
    const outcomes: string[] = [];
    const hook: ConsumerHooks = {
      lost: (_, items) => lost.push(...items.map(({ id }) => id)),
      settled: (_consumer, _items, outcome) => outcomes.push(outcome),
    };
    const consumer = make({ claimMinIdleMs: 300, onFailure: "nack", hooks: [hook] });
    await consumer.run(async (item) => {
      const { signal } = item;
      assert.deepEqual([item.isLost, signal.aborted], [false, false]);
      const loss = once(signal, "abort");
      await group.claim({ consumer: "bob", minIdleMs: 0, ids });
      await loss;
      assert.deepEqual([item.isLost, (signal.reason as TailraceError).code], [true, "LOST"]);
      consumer.stop();
      if (ending === "throws") signal.throwIfAborted();
      assert.deepEqual([await item.ack(), await item.nack(), item.isSettled], [false, false, false]);
    });
    assert.deepEqual(await pending(), [[ids[0], "bob", 2]]);
    assert.deepEqual([lost, outcomes], [ids, []]);
    assert.deepEqual(
      warn.mock.calls.map(({ arguments: [text] }) => text as string),
      [`lost 1 of the entries of ${stream.key}, claimed by another consumer or no longer pending: ${ids[0]}`],
    );
    assert.equal(error.mock.callCount(), ending === "throws" ? 1 : 0);
  });

test("an item that is lost before a worker has it is passed to none", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const { group, ids, make, pending } = await filled(3);
  const loss = occasion();
  const consumer = make({ claimMinIdleMs: 300, orderBy: "lane", hooks: [{ lost: loss.comes }] });
  const seen: string[] = [];
  for await (const item of consumer) {
    seen.push(item.id);
    if (seen.length === 1) {
      await group.claim({ consumer: "bob", minIdleMs: 0, ids: [ids[1] ?? ""] });
      await loss.came;
    }
    assert.equal(await item.ack(), true);
    if (item.id === ids[2]) consumer.stop();
  }
  assert.deepEqual(seen, [ids[0], ids[2]]);
  assert.deepEqual(await pending(), [[ids[1], "bob", 2]]);
});

test("an acknowledgment that does not count says so, and one whose answer is lost counts", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const { group, ids, make } = await filled(3, client({ url: line.url }));
  for await (const batch of make({ extendLeases: false }).batches({ size: 3 })) {
    const [first, , last] = [...batch] as unknown as [Item, Item, Item];
    await group.ack(ids.slice(0, 1));
    assert.deepEqual([await first.ack(), first.isLost], [false, true]);
    line.swallowNextAnswer();
    assert.deepEqual([await last.ack(), line.cuts], [true, 1]);
    assert.deepEqual([await batch.ack(), batch.map(({ isSettled }) => isSettled)], [2, [false, true, true]]);
    break;
  }
});

test("a consumer survives lost connections and a restart, and nothing is lost", async (context) => {
  const { stream } = await filled(20);
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const tailrace = client({ url: line.url });
  const consumer = new Consumer(tailrace, {
    streams: stream.key,
    group: "g",
    consumer: "alice",
    waitMs: 100,
    batch: 5,
    claimMinIdleMs: 300,
  });
  const seen = new Set<string>();
  await consumer.run(async ({ fields }) => {
    seen.add(fields["n"] ?? "");
    if (seen.size === 5) line.cutAll();
    if (seen.size === 10) await restart();
    if (seen.size === 20) consumer.stop();
  });
  assert.equal(seen.size, 20);
});

test("options that make no sense are refused", async () => {
  const { make } = await filled(1);
  const refused = { code: "INVALID_ARGUMENT" };
  for (const options of [
    { streams: [] },
    { streams: ["a", "a"] },
    { batch: 0 },
    { waitMs: -1 },
    { waitMs: 60_001 },
    { claimMinIdleMs: -1 },
    { maxDeliveries: 0 },
    { maxDeliveries: 1.5 },
    { deadLetterStream: "a", streams: "a" },
    { group: "" },
  ])
    assert.throws(() => make(options), refused);
  const consumer = make();
  assert.throws(() => consumer.batches({ size: 0 }), refused);
  assert.throws(() => consumer.batches({ fillMs: -1 }), refused);
  await assert.rejects(
    consumer.run(() => undefined, { concurrency: 0 }),
    refused,
  );
  await consumer.run(async () => {
    consumer.stop();
    await assert.rejects(
      consumer.run(() => undefined),
      refused,
    );
  });
});

test("a consumer sets the settings of its group, and the server stores the dead letters", async () => {
  const { tailrace, stream, group, make } = await filled(2);
  const settings = { max_deliveries: 1, filter: 'fields.n != "0"', claim_min_idle_ms: 50 };
  const consumer = make({ settings, onFailure: "nack" });
  assert.equal(consumer.options.claimMinIdleMs, 50);
  await consumer.run((item) => {
    assert.equal(item.fields["n"], "1");
    consumer.stop();
    throw new Error("poison");
  });
  const info = await group.info();
  assert.deepEqual(
    [info.max_deliveries, info.dead_letter_stream, info.filter],
    [1, `${stream.key}:dead`, settings.filter],
  );
  const letters = [];
  for await (const { fields } of tailrace.stream(`${stream.key}:dead`).read()) letters.push(fields);
  assert.deepEqual(
    letters.map((fields) => [fields["n"], fields["_last_consumer"], fields["_reason"]]),
    [["1", "alice", "max_deliveries"]],
  );
  assert.throws(() => make({ settings, claimMinIdleMs: 70 }), /claimMinIdleMs 70 differs from 50/);
  assert.throws(() => make({ settings: { dead_letter_stream: stream.key } }), /is one of the streams/);
});

test("a stream that is created again with lower ids is consumed from its beginning", async () => {
  const tailrace = client();
  const key = fresh("again");
  await tailrace.stream(key).append({ n: "old" }, { id: "9-0" });
  const consumer = new Consumer(tailrace, { streams: key, group: "g", consumer: "alice", waitMs: 60_000 });
  const seen: unknown[] = [];
  for await (const item of consumer) {
    seen.push(item.fields["n"]);
    if (seen.length === 1) {
      const ids = ["1-0", "9-0", "20-0"];
      await tailrace.transaction([["DEL", key], ...ids.map((id) => ["XADD", key, id, "n", id])]);
      // The acknowledgment is of the earlier stream, so it must not count for the later one.
      assert.equal(await item.ack(), false);
    } else {
      assert.equal(await item.ack(), true);
    }
    if (seen.length === 4) consumer.stop();
  }
  assert.deepEqual(seen, ["old", "1-0", "9-0", "20-0"]);
});

test("settings are set again with a group that is created again", async () => {
  const { stream, group, make } = await filled(1);
  const consumer = make({ settings: { max_lag_ms: 1_000 } });
  let count = 0;
  for await (const item of consumer) {
    await item.ack();
    assert.equal((await group.info()).max_lag_ms, 1_000);
    if (++count === 2) break;
    await group.destroy();
    await stream.append({ n: "again" });
  }
  assert.equal(count, 2);
});

test("a consumer gathers entries before it begins", async () => {
  const { tailrace, stream, group, make } = await filled(1);
  await group.create({ after: "0" });
  const batches = make({ minCount: 3, waitMs: 60_000 }).batches({ size: 10 });
  const first = batches.next();
  while (!JSON.stringify(await tailrace.command(["XINFO", "CONSUMERS", stream.key, "g"])).includes("alice"));
  await stream.appendBatch([{ n: "1" }, { n: "2" }]);
  const batch = (await first).value;
  assert.equal(batch?.length, 3);
  await batch?.ack();
  await batches.return();
  assert.throws(() => make({ minCount: 0 }), /minCount is 0; it must be an integer, from 1 to 100/);
  assert.throws(() => make({ lingerMs: 5 }), /lingerMs 5 needs minCount/);
});

test("a failed entry, and one that is returned for later, come back after their delay", async () => {
  const hour = 3_600_000;
  const options = { onFailure: "nack" as const };
  for (const each of [{ retryDelayMs: hour }, { settings: { backoff: { initial_ms: hour } } }, undefined]) {
    const { group, make } = await filled(1);
    const consumer = make({ ...options, ...each });
    await consumer.run(async (item) => {
      consumer.stop();
      if (each !== undefined) throw new Error("later");
      await item.nack({ delayMs: hour });
    });
    const claimed = await group.read({ consumer: "bob", claimMinIdleMs: 0 });
    assert.deepEqual(claimed, []);
    const { pending } = await api
      .xpending({
        client: client().http,
        path: { key: group.key, group: group.name },
        throwOnError: true,
      })
      .then(({ data }) => data);
    const left = (pending[0]?.claimable_at_ms ?? 0) - Date.now();
    assert.ok(left > hour / 2 && left <= hour, String(left));
  }
  assert.throws(() => new Consumer(client(), { ...plain, retryDelayMs: 5 }), /needs onFailure nack/);
});

const plain = { streams: "s", group: "g", consumer: "alice" };
