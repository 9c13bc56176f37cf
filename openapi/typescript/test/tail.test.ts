/** Tails over Server-Sent Events, through broken connections and a restart. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Gap, TailraceError } from "tailrace-client";

import { FaultyLine } from "./faulty-line.js";
import { client, failure, fresh, occasion, restart, take } from "./server.js";

const tailrace = client();

test("a tail gives what is there after its position, and then what comes", async () => {
  const stream = tailrace.stream(fresh("tail"));
  await stream.append({ n: "1" }, { id: "1-0" });
  await stream.append({ n: "2" }, { id: "2-0" });
  const tail = stream.tail({ after: "1-0" });
  assert.deepEqual((await tail.next()).value, { id: "2-0", fields: { n: "2" } });
  const waiting = tail.next();
  await stream.append({ n: "3" }, { id: "3-0" });
  assert.deepEqual((await waiting).value, { id: "3-0", fields: { n: "3" } });
  await tail.return();
});

test("a tail and a subscription that are open return what is appended then", async (context) => {
  const connected = client();
  context.after(() => connected.close());
  const stream = connected.stream(fresh("open"));
  await stream.append({ n: "before" });
  const all = [stream.tail(), connected.tail([stream.key]), stream.subscribe()];
  await Promise.all(all.map((entries) => entries.open()));
  await stream.append({ n: "1" });
  await stream.append({ n: "2" });
  for (const entries of all) {
    const both = await Promise.all([entries.next(), entries.next()]);
    assert.deepEqual(
      both.map(({ value }) => value?.fields["n"]),
      ["1", "2"],
    );
    await (await entries.open()).return();
    assert.equal((await entries.next()).done, true);
  }
});

test("a tail that is cut goes on behind its last entry: each once, in order", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const stream = client({ url: line.url }).stream(fresh("cut"));
  const tail = stream.tail({ after: "0" });
  await stream.append({ n: "1" });
  assert.equal((await tail.next()).value?.fields["n"], "1");
  line.cutAll();
  await tailrace.stream(stream.key).append({ n: "2" });
  await tailrace.stream(stream.key).append({ n: "3" });
  assert.deepEqual(
    (await take(tail, 2)).map((entry) => entry.fields["n"]),
    ["2", "3"],
  );
  assert.equal(line.cuts, 1);
});

test("a tail from now on that is cut before its first entry has lost none", async (context) => {
  const line = await FaultyLine.open();
  context.after(() => line.close());
  const opened = occasion();
  const stream = client({ url: line.url }).stream(fresh("now"));
  await tailrace.stream(stream.key).append({ n: "before" });
  const first = stream.tail({ onOpen: opened.comes }).next();
  await opened.came;
  line.cutAll();
  await tailrace.stream(stream.key).append({ n: "after" });
  assert.equal((await first).value?.fields["n"], "after");
  assert.equal(line.cuts, 1);
});

for (const exists of [true, false])
  test(`a tail that comes back to a stream that was created again yields all of it, opened ${exists ? "after" : "before"} the first one`, async (context) => {
    const line = await FaultyLine.open();
    context.after(() => line.close());
    const stream = client({ url: line.url }).stream(fresh("again"));
    const gaps: Gap[] = [];
    if (exists) await stream.append({ n: "0" }, { id: "9-0" });
    const tail = await stream.tail({ after: "0", onGap: (gap) => gaps.push(gap) }).open();
    if (!exists) await stream.append({ n: "0" }, { id: "9-0" });
    assert.equal((await tail.next()).value?.id, "9-0");
    line.cutAll();
    const { key } = stream;
    await tailrace.transaction([["DEL", key], ...["1-0", "20-0"].map((id) => ["XADD", key, id, "n", "1"])]);
    assert.deepEqual(
      (await take(tail, 2)).map((entry) => entry.id),
      ["1-0", "20-0"],
    );
    assert.deepEqual(gaps, [{ key, from: "9-0", to: "1-0" }]);
  });

test("a tail is told where entries were trimmed away, or the log is", async (context) => {
  const warn = context.mock.method(console, "warn", () => undefined);
  const stream = tailrace.stream(fresh("gap"));
  for (const id of ["1-0", "2-0", "3-0"]) await stream.append({ id }, { id, trim: { max_length: 1 } });
  const gaps: Gap[] = [];
  const tail = stream.tail({ after: "1-0", onGap: (gap) => gaps.push(gap) });
  assert.equal((await tail.next()).value?.id, "3-0");
  assert.deepEqual(gaps, [{ key: stream.key, from: "1-0", to: "3-0" }]);
  await tail.return();
  assert.equal(warn.mock.callCount(), 0);
  await take(stream.tail({ after: "1-0" }), 1);
  assert.equal(warn.mock.callCount(), 1);
});

test("a tail ends with its signal's reason", async () => {
  const stream = tailrace.stream(fresh("abort"));
  await stream.append({ n: "1" });
  const enough = new AbortController();
  const tail = stream.tail({ after: "0", signal: enough.signal });
  await tail.next();
  const waiting = tail.next();
  enough.abort(new Error("enough"));
  assert.equal((await failure(waiting)).message, "enough");
});

test("a position that is none is refused at once", async () => {
  const tail = tailrace.stream(fresh("refused")).tail({ after: "yesterday" });
  assert.equal((await failure<TailraceError>(tail.next())).code, "INVALID_ID");
});

test("a tail outlives a restart of the server", async () => {
  const stream = tailrace.stream(fresh("restart"));
  await stream.append({ n: "1" });
  const tail = stream.tail({ after: "0" });
  assert.equal((await tail.next()).value?.fields["n"], "1");
  const next = tail.next();
  await restart();
  await stream.append({ n: "2" });
  assert.equal((await next).value?.fields["n"], "2");
  await tail.return();
});
