/** Streams and groups over HTTP, and requests whose response is lost. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";

import { type Entry, TailraceError, api, bytesOf } from "tailrace-client";

import { FaultyLine } from "./faulty-line.js";
import { client, failure, fresh, take, url } from "./server.js";

const tailrace = client();

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test("what is appended is read back in order, with its id", async () => {
  const stream = tailrace.stream(fresh("race"));
  const first = await stream.append({ rider: "Castilla", speed: "30.2" });
  const second = await stream.append({ rider: "Norem" });
  assert.deepEqual(await all(stream.read()), [
    { id: first, fields: { rider: "Castilla", speed: "30.2" } },
    { id: second, fields: { rider: "Norem" } },
  ]);
  assert.equal(await stream.length(), 2);
});

test("a key may hold slashes, percent signs, colons, spaces and any letter", async () => {
  for (const name of ["a/b", "100%", "race:france:ack", "two words", "ぶどう?#&"]) {
    const stream = tailrace.stream(fresh(name));
    const id = await stream.append({ key: stream.key });
    assert.deepEqual(await all(stream.read()), [{ id, fields: { key: stream.key } }]);
  }
});

test("reads and tails take a filter, which the server tests", async () => {
  const stream = tailrace.stream(fresh("filtered"));
  await stream.appendMany(Array.from({ length: 1_200 }, (_, n) => ({ n: String(n) })));
  const filter = 'int(fields.n) >= 1198 || fields.n == "3"';
  const values = (entries: { fields?: Readonly<Record<string, string>> }[]) =>
    entries.map(({ fields }) => fields?.["n"]);
  assert.deepEqual(values(await all(stream.read({ filter }))), ["3", "1198", "1199"]);
  assert.deepEqual(values(await all(stream.read({ filter, count: 2 }))), ["3", "1198"]);
  const found = [];
  for await (const entry of stream.tail({ after: "0", filter })) if (found.push(entry) === 3) break;
  assert.deepEqual(values(found), ["3", "1198", "1199"]);
  await assert.rejects(all(stream.read({ filter: "fields.n = 1" })), { code: "INVALID_FILTER" });
});

test("a name that no URL can hold is refused before anything is sent", async () => {
  for (const name of ["", ".", "..", "\ud800"]) {
    assert.throws(() => tailrace.stream(name), { name: "TailraceError", code: "INVALID_ARGUMENT" });
    assert.throws(() => tailrace.stream("jobs").group(name), { code: "INVALID_ARGUMENT" });
  }
});

test("pairs keep names that repeat and the order of names that look like integers", async () => {
  const stream = tailrace.stream(fresh("pairs"));
  const pairs = [
    ["2", "b"],
    ["1", "a"],
    ["2", "c"],
  ] as const;
  await stream.append(pairs);
  await stream.append(
    new Map([
      ["9", "x"],
      ["8", "y"],
    ]),
  );
  const [repeating, ordered] = await all(stream.read({ shape: "pairs" }));
  assert.deepEqual(repeating?.pairs, pairs);
  assert.deepEqual(repeating?.fields, { 1: "a", 2: "c" });
  assert.deepEqual(ordered?.pairs, [
    ["9", "x"],
    ["8", "y"],
  ]);
});

test("bytes that are not UTF-8 come back as they were", async () => {
  const stream = tailrace.stream(fresh("bytes"));
  await stream.append({ image: Uint8Array.of(0, 255, 128), name: "ü" });
  const [entry] = await all(stream.read());
  assert.ok(entry);
  const read = Object.entries(entry.fields).map((pair) => pair.map((text) => [...bytesOf(entry, text)]));
  assert.deepEqual(read, [
    [[...Buffer.from("image")], [0, 255, 128]],
    [[...Buffer.from("name")], [...Buffer.from("ü")]],
  ]);
});

test("appendMany takes any iterable, sends it in chunks and counts it", async () => {
  const stream = tailrace.stream(fresh("many"));
  async function* entries() {
    for (let number = 0; number < 2_500; number++) yield { number: String(number) };
  }
  assert.equal(await stream.appendMany(entries(), { chunk: 400 }), 2_500);
  const numbers = (await all(stream.read())).map((entry) => Number(entry.fields["number"]));
  assert.deepEqual(
    numbers,
    Array.from({ length: 2_500 }, (_, number) => number),
  );
});

test("appendMany takes pairs and bytes among plain entries", async () => {
  const stream = tailrace.stream(fresh("many"));
  assert.equal(
    await stream.appendMany([
      { a: "1" },
      [
        ["b", "2"],
        ["b", "3"],
      ],
      { c: Uint8Array.of(255) },
    ]),
    3,
  );
  const [plain, repeating, bytes] = await all(stream.read());
  assert.deepEqual(plain?.fields, { a: "1" });
  assert.deepEqual(repeating?.pairs, [
    ["b", "2"],
    ["b", "3"],
  ]);
  assert.equal(bytes?.encoding, "base64");
});

test("appendMany with the same producer and prefix appends what was appended before only once", async () => {
  const stream = tailrace.stream(fresh("replay"));
  const again = { producerId: "importer", keyPrefix: "monday", chunk: 2 };
  const entries = ["a", "b", "c"].map((name) => ({ name }));
  assert.equal(await stream.appendMany(entries, again), 3);
  assert.equal(await stream.appendMany(entries, again), 3);
  assert.equal(await stream.length(), 3);
});

test("a range is read from a start to an end and no further than a count", async () => {
  const stream = tailrace.stream(fresh("range"));
  for (const id of ["1-0", "2-0", "3-0", "4-0"]) await stream.append({ id }, { id });
  const ids = async (items: AsyncIterable<Entry>) => (await all(items)).map((entry) => entry.id);
  assert.deepEqual(await ids(stream.read({ start: "(1-0", end: "3" })), ["2-0", "3-0"]);
  assert.deepEqual(await ids(stream.read({ count: 2 })), ["1-0", "2-0"]);
  assert.deepEqual(await ids(stream.read({ count: 0 })), []);
});

test("a refusal is an error with the server's code and the values to go on with", async () => {
  const stream = tailrace.stream(fresh("ids"));
  await stream.append({ a: "1" }, { id: "5-0" });
  const error = await failure<TailraceError>(stream.append({ a: "1" }, { id: "5-0" }));
  assert.ok(error instanceof TailraceError);
  const { code, status, retryable, sideEffects, lastId } = error;
  assert.deepEqual(
    { code, status, retryable, sideEffects, lastId },
    { code: "ID_NOT_GREATER", status: 409, retryable: false, sideEffects: "none", lastId: "5-0" },
  );
  assert.match(error.requestId ?? "", /^\S+$/);
  const number = stream.append({ speed: 30.2 } as unknown as Record<string, string>);
  assert.equal((await failure<TailraceError>(number)).code, "BODY_MISMATCH");
});

test("the retention of a stream is set when it is created, changed and removed", async () => {
  const stream = tailrace.stream(fresh("kept"));
  await stream.create({ retention: { max_length: 5, protect_unread: true } });
  assert.deepEqual((await stream.info()).retention?.max_length, 5);
  await stream.configure({ retention: { max_age_ms: 60_000 } });
  const { retention } = await stream.info();
  assert.deepEqual([retention?.max_age_ms, retention?.max_length], [60_000, undefined]);
  await stream.configure({ idmpDurationS: 60 });
  assert.equal((await stream.info()).retention?.max_age_ms, 60_000);
  await stream.configure({ retention: null });
  assert.equal((await stream.info()).retention, undefined);
});

test("a condition on the last id keeps others' appends", async () => {
  const stream = tailrace.stream(fresh("condition"));
  const id = await stream.append({ a: "1" }, { ifLastId: "0-0" });
  assert.equal((await failure<TailraceError>(stream.append({ a: "2" }, { ifLastId: "0-0" }))).status, 412);
  await stream.append({ a: "2" }, { ifLastId: id });
});

test("a group's entries are read, acknowledged, given back, claimed and listed", async () => {
  const stream = tailrace.stream(fresh("jobs"));
  const group = stream.group("workers");
  assert.equal(await group.create({ after: "0", createStream: true }), true);
  assert.equal(await group.create({ after: "0" }), false);
  await stream.appendMany(["a", "b", "c"].map((task) => ({ task })));
  const [a, b, c] = await group.read({ consumer: "alice", count: 3 });
  assert.ok(a && b && c);
  assert.deepEqual(
    [a.key, a.fields, a.idleMs, a.deliveries, a.deleted],
    [stream.key, { task: "a" }, 0, 0, false],
  );
  assert.equal(await group.ack([a.id]), 1);
  assert.equal(await group.ack([a.id]), 0);
  assert.equal(await group.nack([b.id]), 1);
  const claimed = await group.claim({ consumer: "bob", minIdleMs: 0, ids: [b.id, c.id] });
  assert.deepEqual(await group.extend("bob", [b.id, "9-9"]), [b.id]);
  assert.equal((await group.configure({ claim_min_idle_ms: 60_000 })).claim_min_idle_ms, 60_000);
  assert.equal("claim_min_idle_ms" in (await group.configure({ claim_min_idle_ms: null })), false);
  assert.deepEqual(
    claimed.map((entry) => entry.id),
    [b.id, c.id],
  );
  const pending = await all(group.pending());
  assert.deepEqual(
    pending.map(({ id, consumer }) => [id, consumer]),
    [
      [b.id, "bob"],
      [c.id, "bob"],
    ],
  );
  assert.deepEqual((await group.pendingSummary()).consumers, [{ name: "bob", pending: 2 }]);
  await group.destroy();
  assert.equal((await failure<TailraceError>(group.read({ consumer: "alice" }))).code, "NOGROUP");
});

test("a pending entry that a nack delays says until when", async () => {
  const group = tailrace.stream(fresh("later")).group("g");
  await group.create({ createStream: true });
  const stream = tailrace.stream(group.key);
  await stream.appendMany([{ n: "1" }, { n: "2" }]);
  const [first] = await group.read({ consumer: "alice" });
  assert.ok(first);
  const before = Date.now();
  await group.nack([first.id], { delayMs: 3_600_000 });
  const [delayed, other] = await all(group.pending());
  assert.ok((delayed?.claimableAtMs ?? 0) > before);
  assert.equal(other?.claimableAtMs, undefined);
});

test("all pending entries are listed, however many pages they are", async () => {
  const stream = tailrace.stream(fresh("pending"));
  const group = stream.group("workers");
  await group.create({ after: "0", createStream: true });
  await stream.appendMany(Array.from({ length: 250 }, (_, number) => ({ number: String(number) })));
  const delivered = await group.read({ consumer: "alice", count: 250 });
  const listed = await all(group.pending({ consumer: "alice" }));
  assert.deepEqual(
    listed.map((entry) => entry.id),
    delivered.map((entry) => entry.id),
  );
});

test("a group's read waits for an entry, and no longer than its signal allows", async () => {
  const stream = tailrace.stream(fresh("waiting"));
  const group = stream.group("workers");
  await group.create({ createStream: true });
  const waiting = group.read({ consumer: "alice", waitMs: 30_000 });
  await stream.append({ task: "paint" });
  assert.deepEqual(
    (await waiting).map((entry) => entry.fields),
    [{ task: "paint" }],
  );
  const impatient = new AbortController();
  const unwanted = group.read({ consumer: "alice", waitMs: 30_000, signal: impatient.signal });
  impatient.abort(new Error("no longer wanted"));
  assert.equal((await failure(unwanted)).message, "no longer wanted");
});

test("a Redis command is answered with its reply, and an error with its line", async () => {
  const key = fresh("command");
  assert.equal(await tailrace.command(["XADD", key, "1-1", "rider", "Castilla"]), "1-1");
  assert.deepEqual(await tailrace.command(["XRANGE", key, "-", "+"]), [["1-1", ["rider", "Castilla"]]]);
  const error = await failure<TailraceError>(tailrace.command(["XADD", key, "1-1", "rider", "Norem"]));
  assert.match(String(error.problem["error"]), /^ERR The ID specified in XADD is equal or smaller/);
});

test("every other operation is a generated function that takes the client", async () => {
  const stream = tailrace.stream(fresh("trim"));
  await stream.appendMany([{ a: "1" }, { a: "2" }]);
  const { data } = await api.xtrim({
    client: tailrace.http,
    path: { key: stream.key },
    body: { max_length: 1 },
  });
  assert.deepEqual(data, { trimmed: 1 });
});

test("an answer that is lost is asked for again where a key makes that safe, and nothing doubles", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = client({ url: line.url }).stream(fresh("lost"));
  line.swallowNextAnswer();
  const id = await stream.append({ a: "1" }, { idempotencyKey: "one" });
  assert.equal(line.cuts, 1);
  assert.deepEqual(
    (await all(tailrace.stream(stream.key).read())).map((entry) => entry.id),
    [id],
  );
  line.swallowNextAnswer();
  assert.equal(await stream.appendMany([{ a: "2" }, { a: "3" }]), 2);
  assert.equal(line.cuts, 2);
  assert.equal(await stream.length(), 3);
});

test("without a key a lost answer is an error that says so, and nothing is sent twice", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = client({ url: line.url }).stream(fresh("lost"));
  line.swallowNextAnswer();
  const error = await failure<TailraceError>(stream.append({ a: "1" }));
  assert.deepEqual([error.code, error.status, error.sideEffects], ["CONNECTION_LOST", 0, "unknown"]);
  assert.equal(line.cuts, 1);
  assert.equal(await stream.length(), 1);
});

test("what would undo what others did meanwhile is not sent again after a lost answer", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = client({ url: line.url }).stream(fresh("lost"));
  const group = stream.group("judges");
  await group.create({ after: "0", createStream: true });
  const [, second] = [await stream.append({ a: "1" }), await stream.append({ a: "2" })];
  line.swallowNextAnswer();
  assert.equal(await stream.trim({ min_id: second }), 0, "a trim by id is repeated");
  const once = [
    () => stream.trim({ max_length: 0 }),
    () => group.setPosition("$"),
    () => group.destroy(),
    () => stream.delete(),
  ];
  for (const [index, call] of once.entries()) {
    line.swallowNextAnswer();
    assert.equal((await failure<TailraceError>(call())).sideEffects, "unknown");
    assert.equal(line.cuts, index + 2);
  }
});

test("a range goes on where its connection broke: each entry once, in order", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = client({ url: line.url }).stream(fresh("export"));
  const entries = Array.from({ length: 5_000 }, (_, number) => ({
    number: String(number),
    filling: "x".repeat(100),
  }));
  await stream.appendMany(entries);
  line.cutAfter(300_000);
  const numbers = (await all(stream.read())).map((entry) => entry.fields["number"]);
  assert.equal(line.cuts, 1);
  assert.deepEqual(
    numbers,
    entries.map((entry) => entry.number),
  );
});

test("an iteration that is left early lets go of its connection", async () => {
  const stream = tailrace.stream(fresh("early"));
  await stream.appendMany(Array.from({ length: 5_000 }, () => ({ filling: "x".repeat(1_000) })));
  assert.equal((await take(stream.read(), 3)).length, 3);
  assert.equal(await stream.length(), 5_000);
});

test("a refusal that passes is tried again, not before Retry-After", async () => {
  const calls: number[] = [];
  const problem = {
    code: "NOT_ACCEPTING",
    detail: "ending",
    status: 503,
    retryable: true,
    side_effects: "none",
  };
  const busyOnce: typeof fetch = (input, init) => {
    calls.push(performance.now());
    if (calls.length > 1) return fetch(input, init);
    const headers = { "Content-Type": "application/problem+json", "Retry-After": "1" };
    return Promise.resolve(new Response(JSON.stringify(problem), { status: 503, headers }));
  };
  const stream = client({ fetch: busyOnce }).stream(fresh("busy"));
  await stream.append({ a: "1" });
  const [first, second] = calls;
  assert.ok(first !== undefined && second !== undefined && second - first >= 990);
  assert.equal(await stream.length(), 1);
});

test("a refusal that may have been carried out is not tried again", async () => {
  let calls = 0;
  const unsure: typeof fetch = () => {
    calls++;
    const problem = {
      code: "NOT_ACCEPTING",
      detail: "?",
      status: 503,
      retryable: true,
      side_effects: "unknown",
    };
    return Promise.resolve(new Response(JSON.stringify(problem), { status: 503 }));
  };
  const error = await failure<TailraceError>(client({ fetch: unsure }).stream("jobs").append({ a: "1" }));
  assert.deepEqual([error.sideEffects, calls], ["unknown", 1]);
});

test("an answer that is no problem document is told by its status", async () => {
  const proxy: typeof fetch = () => Promise.resolve(new Response("<html>bad gateway", { status: 502 }));
  const error = await failure<TailraceError>(client({ fetch: proxy }).stream("jobs").append({ a: "1" }));
  assert.deepEqual([error.code, error.status, error.sideEffects], ["HTTP_502", 502, "unknown"]);
});

test("where nobody listens nothing was done, and the attempts come to an end", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const nobody = client({ url: `http://127.0.0.1:${port}`, retry: { attempts: 2, firstDelayMs: 1 } });
  const error = await failure<TailraceError>(nobody.stream("jobs").append({ a: "1" }));
  assert.deepEqual([error.code, error.sideEffects], ["CONNECTION_LOST", "none"]);
});

test("a server that says nothing is given up after the time limit", async (context) => {
  const silent = createServer().listen(0, "127.0.0.1");
  context.after(() => silent.close());
  await once(silent, "listening");
  silent.unref();
  const { port } = silent.address() as AddressInfo;
  const patient = client({ url: `http://127.0.0.1:${port}`, timeoutMs: 50 });
  const error = await failure<TailraceError>(patient.stream("jobs").append({ a: "1" }));
  assert.deepEqual([error.code, error.sideEffects], ["TIMEOUT", "unknown"]);
});

test("a time limit of any length is kept", async () => {
  const patient = client({ timeoutMs: Number.MAX_SAFE_INTEGER }).stream(fresh("patient"));
  assert.deepEqual((await patient.readAfter("0", { waitMs: 100 })).entries, []);
});

test("a slash at the end of the address changes nothing", async () => {
  const stream = client({ url: `${url}/` }).stream(fresh("slash"));
  await stream.append({ a: "1" });
  assert.equal(await stream.length(), 1);
});
