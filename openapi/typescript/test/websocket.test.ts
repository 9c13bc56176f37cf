/** Subscriptions and consumers over the WebSocket: credit, positions, acknowledgments, lost connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";

import type { Delivery, Gap, Tailrace, TailraceError } from "tailrace-client";
import { WebSocketServer } from "ws";

import { FaultyLine } from "./faulty-line.js";
import { client, failure, fresh, occasion, restart, take } from "./server.js";

/** A client whose WebSocket is closed at the end of the test. */
function connected(context: TestContext, address?: string): Tailrace {
  const tailrace = client(address === undefined ? {} : { url: address });
  context.after(() => tailrace.close());
  return tailrace;
}

async function workers(tailrace: Tailrace, count: number) {
  const stream = tailrace.stream(fresh("jobs"));
  const group = stream.group("workers");
  await group.create({ after: "0", createStream: true });
  await stream.appendMany(Array.from({ length: count }, (_, number) => ({ number: String(number) })));
  return { stream, group };
}

const numberOf = (entry: { fields: Readonly<Record<string, string>> }) => Number(entry.fields["number"]);

test("requests are answered by id, many under way at a time, and refused one by one", async (context) => {
  const { socket } = connected(context);
  const key = fresh("requests");
  const requests = Array.from({ length: 200 }, (_, number) =>
    socket.request({
      op: "append",
      key,
      entry_id: `${number + 1}-0`,
      fields: { number: String(number) },
    }),
  );
  const refused = failure<TailraceError>(
    socket.request({ op: "append", key, entry_id: "1-0", fields: { a: "b" } }),
  );
  assert.deepEqual(
    (await Promise.all(requests)).map((ok) => ok["id"]),
    requests.map((_, number) => `${number + 1}-0`),
  );
  assert.equal((await refused).code, "ID_NOT_GREATER");
  assert.deepEqual(await socket.request({ op: "command", command: ["XLEN", key] }), { result: 200 });
});

test("a consumer gets every entry once and never holds more than its credit", async (context) => {
  const tailrace = connected(context);
  const { group } = await workers(tailrace, 100);
  const numbers: number[] = [];
  let most = 0;
  for await (const delivery of group.consume({ consumer: "alice", credit: 7 })) {
    most = Math.max(most, (await group.pendingSummary()).count);
    numbers.push(numberOf(delivery));
    assert.equal(await delivery.ack(), true);
    if (numbers.length === 100) break;
  }
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, number) => number),
  );
  assert.ok(most >= 1 && most <= 7, `${most} were pending at once`);
  assert.equal((await group.pendingSummary()).count, 0);
});

test("an entry that is given back comes to whoever claims, with its deliveries counted", async (context) => {
  const { group } = await workers(connected(context), 1);
  const [refused] = await take(group.consume({ consumer: "alice", onClose: "keep" }), 1);
  assert.equal(await refused?.nack(), true);
  const [again] = await take(group.consume({ consumer: "bob", claimMinIdleMs: 60_000 }), 1);
  assert.deepEqual([again?.id, again?.deliveries, await again?.ack()], [refused?.id, 1, true]);
});

test("a consumer with the claim time null claims by the setting of its group", async (context) => {
  const { group } = await workers(connected(context), 1);
  await group.configure({ claim_min_idle_ms: 60_000 });
  const [refused] = await take(group.consume({ consumer: "alice", onClose: "keep" }), 1);
  await refused?.nack();
  const [again] = await take(group.consume({ consumer: "bob", claimMinIdleMs: null }), 1);
  assert.equal(again?.id, refused?.id);
});

test("a subscription gives entries of several streams, those that match its filter", async (context) => {
  const tailrace = connected(context);
  const france = tailrace.stream(fresh("race"));
  const italy = tailrace.stream(fresh("race"));
  const streams = [france, italy].map(({ key }) => ({ key, after: "0" }));
  const entries = tailrace.subscribe(streams, { filter: { rider: ["Castilla", "Norem"] }, credit: 1 });
  for (const stream of [france, italy]) {
    for (const rider of ["Castilla", "Prickett", "Norem"]) await stream.append({ rider });
  }
  const seen = (await take(entries, 4)).map(({ key, fields }) => `${key} ${fields["rider"]}`);
  const wanted = [france, italy].flatMap(({ key }) => [`${key} Castilla`, `${key} Norem`]);
  assert.deepEqual(seen.sort(), wanted.sort());
});

test("a subscription gives entries that match a condition", async (context) => {
  const stream = connected(context).stream(fresh("condition"));
  await stream.appendMany(Array.from({ length: 1_200 }, (_, n) => ({ n: String(n) })));
  const wanted = await take(stream.subscribe({ after: "0", filter: "int(fields.n) >= 1198" }), 2);
  assert.deepEqual(
    wanted.map(({ fields }) => fields["n"]),
    ["1198", "1199"],
  );
});

test("a subscription is told where entries were trimmed away", async (context) => {
  const stream = connected(context).stream(fresh("gap"));
  for (const id of ["1-0", "2-0", "3-0"]) await stream.append({ id }, { id, trim: { max_length: 1 } });
  const gaps: Gap[] = [];
  const [entry] = await take(stream.subscribe({ after: "1-0", onGap: (gap) => gaps.push(gap) }), 1);
  assert.equal(entry?.id, "3-0");
  assert.deepEqual(gaps, [{ key: stream.key, from: "1-0", to: "3-0" }]);
});

test("a subscription that is cut goes on behind its last entry: each once, in order", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const tailrace = connected(context, line.url);
  const stream = tailrace.stream(fresh("cut"));
  const total = 300;
  await stream.appendMany(Array.from({ length: total }, (_, number) => ({ number: String(number) })));
  const numbers: number[] = [];
  let openings = 0;
  for await (const entry of stream.subscribe({ after: "0", credit: 20, onOpen: () => openings++ })) {
    numbers.push(numberOf(entry));
    if (numbers.length % 100 === 50) line.cutAll();
    if (numbers.length === total) break;
  }
  assert.deepEqual(
    numbers,
    Array.from({ length: total }, (_, number) => number),
  );
  assert.equal(line.cuts, 3);
  assert.equal(openings, 4);
});

test("a subscription that comes back to a stream that was created again gets all of it", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const tailrace = client();
  const stream = connected(context, line.url).stream(fresh("again"));
  const opened = occasion();
  const gaps: Gap[] = [];
  const entries = stream.subscribe({ onOpen: opened.comes, onGap: (gap) => gaps.push(gap) });
  const first = entries.next();
  await opened.came;
  const again = (...ids: string[]) =>
    tailrace.transaction([["DEL", stream.key], ...ids.map((id) => ["XADD", stream.key, id, "n", "1"])]);
  await again("9-0");
  assert.equal((await first).value?.id, "9-0");
  line.cutAll();
  await again("1-0", "20-0");
  assert.deepEqual(
    (await take(entries, 2)).map(({ id }) => id),
    ["1-0", "20-0"],
  );
  assert.deepEqual(gaps, [{ key: stream.key, from: "9-0", to: "1-0" }]);
});

test("a subscription from now on that is cut before its first entry has lost none", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = connected(context, line.url).stream(fresh("now"));
  await stream.append({ n: "before" });
  const opened = occasion();
  const first = stream.subscribe({ onOpen: opened.comes }).next();
  await opened.came;
  line.cutAll();
  await client().stream(stream.key).append({ n: "after" });
  assert.equal((await first).value?.fields["n"], "after");
});

test("a consumer that is cut gets everything at least once, and in the end nothing is pending", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const { stream, group } = await workers(client(), 200);
  const tailrace = connected(context, line.url);
  const done = new Set<number>();
  let handed = 0;
  for await (const delivery of tailrace
    .stream(stream.key)
    .group("workers")
    .consume({ consumer: "alice", credit: 16 })) {
    if (++handed % 60 === 0) line.cutAll();
    await delivery.ack();
    done.add(numberOf(delivery));
    if (done.size === 200) break;
  }
  assert.ok(line.cuts >= 3);
  assert.equal((await group.pendingSummary()).count, 0);
});

test("consumers and subscriptions outlive a restart of the server", async (context) => {
  const tailrace = connected(context);
  const { stream, group } = await workers(tailrace, 1);
  const deliveries = group.consume({ consumer: "alice" });
  const entries = stream.subscribe({ after: "0" });
  const before: Delivery = (await deliveries.next()).value!;
  assert.equal(numberOf(before), 0);
  assert.equal(numberOf((await entries.next()).value!), 0);
  await restart();
  assert.equal(await before.ack(), true);
  await stream.append({ number: "1" });
  const after: Delivery = (await deliveries.next()).value!;
  assert.equal(numberOf(after), 1);
  assert.equal(numberOf((await entries.next()).value!), 1);
  await after.ack();
  await Promise.all([deliveries.return(), entries.return()]);
});

test("a consumer that is left gives back what it did not hand over, as if it had not been delivered", async (context) => {
  const { group } = await workers(connected(context), 50);
  const [first] = await take(group.consume({ consumer: "alice", credit: 20 }), 1);
  await first?.ack();
  const given = await group.read({ consumer: "bob", claimMinIdleMs: 60_000, count: 50 });
  assert.deepEqual(
    given.map(numberOf).sort((a, b) => a - b),
    Array.from({ length: 49 }, (_, number) => number + 1),
  );
  assert.ok(given.every((delivered) => delivered.deliveries === 0));
});

test("a consumer without acknowledgments leaves nothing pending", async (context) => {
  const { group } = await workers(connected(context), 3);
  const taken = await take(group.consume({ consumer: "alice", noack: true }), 3);
  assert.deepEqual(taken.map(numberOf), [0, 1, 2]);
  assert.equal((await group.pendingSummary()).count, 0);
});

test("a consumer of a group that is not there is refused at once", async (context) => {
  const stream = connected(context).stream(fresh("nogroup"));
  await stream.append({ a: "1" });
  const error = await failure<TailraceError>(stream.group("nobody").consume({ consumer: "alice" }).next());
  assert.deepEqual([error.code, error.status], ["NOGROUP", 404]);
});

test("a consumer ends when its group is removed", async (context) => {
  const { group } = await workers(connected(context), 0);
  const opened = occasion();
  const waiting = failure<TailraceError>(group.consume({ consumer: "alice", onOpen: opened.comes }).next());
  await opened.came;
  await group.destroy();
  assert.equal((await waiting).code, "NOGROUP");
});

test("whoever waits is let go by its signal, and by closing the client", async (context) => {
  const tailrace = connected(context);
  const stream = tailrace.stream(fresh("abort"));
  const enough = new AbortController();
  const aborted = failure(
    stream.subscribe({ signal: enough.signal, onOpen: () => enough.abort(new Error("enough")) }).next(),
  );
  assert.equal((await aborted).message, "enough");
  const opened = occasion();
  const closed = failure<TailraceError>(stream.subscribe({ onOpen: opened.comes }).next());
  await opened.came;
  tailrace.close();
  assert.equal((await closed).code, "CLOSED");
});

test("a message that is larger than the server takes is not sent", async (context) => {
  const { socket } = connected(context);
  const { hello } = await socket.connected();
  const filling = "ü".repeat((hello?.limits["frame_bytes_max"] ?? 0) / 2);
  const error = await failure<TailraceError>(socket.request({ op: "append", key: "k", fields: { filling } }));
  assert.equal(error.code, "INVALID_ARGUMENT");
  assert.deepEqual(await socket.request({ op: "ping" }), {});
});

test("a close from 4000 to 4499 is followed by another attempt, one from 4500 on by none", async (context) => {
  for (const [code, attempts] of [
    [4008, 3],
    [4500, 1],
  ] as const) {
    let connections = 0;
    const peer = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    context.after(() => peer.close());
    peer.on("connection", (socket) => {
      connections++;
      socket.close(code, "as the test wants it");
    });
    await once(peer, "listening");
    const { port } = peer.address() as AddressInfo;
    const tailrace = client({
      url: `http://127.0.0.1:${port}`,
      token: undefined,
      retry: { attempts: 3, firstDelayMs: 1 },
    });
    const error = await failure<TailraceError>(tailrace.socket.request({ op: "ping" }));
    assert.deepEqual(
      [error.code, error.retryable, error.problem["close_code"]],
      ["CONNECTION_LOST", code < 4500, code],
    );
    assert.equal(connections, attempts);
  }
});
