// A client that others wrote for Redis over REST, told only where this server is.
// Run by test_upstash_redis.py: `node upstash.mjs <server> <scenario> <a file beside node_modules>`.

import { createRequire } from "node:module";

const [server, scenario, beside] = process.argv.slice(2);
const { Redis } = createRequire(beside)("@upstash/redis");
const redis = new Redis({ url: `${server}/v1/command`, token: "unused", retry: false });
const key = `upstash:${scenario}`;

const rejected = async (promise) => promise.then(() => undefined, (error) => error.message);
const create = (group, id) => redis.xgroup(key, { type: "CREATE", group, id, options: { MKSTREAM: true } });

// The server is shared with other tests: one step of SCAN sees a part of its keys.
const scannedWhole = async (match) => {
  const found = [];
  let cursor = "0";
  do {
    const [next, keys] = await redis.scan(cursor, { match, count: 1000 });
    found.push(...keys);
    cursor = next;
  } while (cursor !== "0");
  return found;
};

const scenarios = {
  async appends_and_reads() {
    return {
      first: await redis.xadd(key, "1-1", { rider: "Castilla", speed: 30.2, wins: 3, won: true, note: "é" }),
      second: await redis.xadd(key, "2-*", { rider: "Norem" }, { trim: { type: "MAXLEN", comparison: "=", threshold: 10 } }),
      chosen: await redis.xadd(`${key}:other`, "*", { lap: { number: 1 } }),
      nowhere: await redis.xadd(`${key}:nowhere`, "*", { a: "b" }, { nomkStream: true }),
      length: await redis.xlen(key),
      range: await redis.xrange(key, "-", "+"),
      firstOfRange: await redis.xrange(key, "-", "+", 1),
      reversed: await redis.xrevrange(key, "+", "-"),
      read: await redis.xread([key], ["1-1"], { count: 5 }),
      nothing: await redis.xread(key, "$"),
      waited: await redis.xread(key, "$", { blockMS: 1 }),
      refused: await rejected(redis.xadd(key, "1-1", { a: "b" })),
    };
  },

  async reads_as_a_group() {
    await redis.xadd(key, "1-1", { rider: "Castilla" });
    await redis.xadd(key, "2-1", { rider: "Norem" });
    return {
      created: await create("judges", "0"),
      again: await rejected(create("judges", "0")),
      consumer: await redis.xgroup(key, { type: "CREATECONSUMER", group: "judges", consumer: "bob" }),
      given: await redis.xreadgroup("judges", "alice", key, ">", { count: 2 }),
      nothing: await redis.xreadgroup("judges", "alice", key, ">"),
      pending: await redis.xpending(key, "judges", "-", "+", 10),
      claimed: await redis.xclaim(key, "judges", "bob", 0, "1-1"),
      scanned: await redis.xautoclaim(key, "judges", "carol", 0, "0-0", { count: 1 }),
      justIds: await redis.xautoclaim(key, "judges", "carol", 0, "0-0", { justId: true }),
      acknowledged: await redis.xack(key, "judges", ["1-1", "9-9"]),
      acknowledgedAndDeleted: await redis.xackdel(key, "judges", "acked", "2-1"),
      groups: await redis.xinfo(key, { type: "GROUPS" }),
      consumers: await redis.xinfo(key, { type: "CONSUMERS", group: "judges" }),
      moved: await redis.xgroup(key, { type: "SETID", group: "judges", id: "$" }),
      dropped: await redis.xgroup(key, { type: "DELCONSUMER", group: "judges", consumer: "bob" }),
      destroyed: await redis.xgroup(key, { type: "DESTROY", group: "judges" }),
      refused: await rejected(redis.xreadgroup("judges", "alice", key, ">")),
    };
  },

  async trims_and_deletes() {
    for (const ms of [1, 2, 3, 4, 5]) await redis.xadd(key, `${ms}-0`, { lap: ms });
    return {
      deleted: await redis.xdel(key, ["1-0", "9-0"]),
      deletedByPolicy: await redis.xdelex(key, "keepref", "2-0", "9-0"),
      trimmed: await redis.xtrim(key, { strategy: "MAXLEN", exactness: "=", threshold: 2 }),
      left: await redis.xrange(key, "-", "+"),
      kind: await redis.type(key),
      keys: await redis.keys(`${key}*`),
      scanned: await scannedWhole(`${key}*`),
      renamed: await redis.rename(key, `${key}:renamed`),
      gone: await redis.exists(key),
      removed: await redis.del(`${key}:renamed`),
      pong: await redis.ping(),
      echoed: await redis.echo("grüezi"),
    };
  },

  async bare_base_url() {
    const misled = new Redis({ url: server, token: "unused", retry: false, enableAutoPipelining: false });
    return {
      command: await rejected(misled.xadd(key, "*", { rider: "Castilla" })),
      pipeline: await rejected(misled.pipeline().xlen(key).xlen(key).exec()),
      transaction: await rejected(misled.multi().xlen(key).exec()),
      together: await rejected(new Redis({ url: server, token: "unused", retry: false }).ping()),
    };
  },

  async pipelines() {
    const pipeline = redis.pipeline();
    pipeline.xadd(key, "1-1", { rider: "Castilla" }).xadd(key, "1-1", { rider: "Norem" }).xlen(key);
    const transaction = redis.multi();
    transaction.xadd(key, "2-1", { rider: "Wood" }).xrange(key, "-", "+").xlen(key);
    const broken = redis.multi();
    broken.xadd(key, "3-1", { rider: "Nobody" }).xdel(key, []);
    return {
      outcomes: await pipeline.exec({ keepErrors: true }),
      transacted: await transaction.exec(),
      refused: await rejected(broken.exec()),
      // Asked in one turn of the loop: the client makes one pipeline of them by itself.
      together: await Promise.all([redis.xlen(key), redis.xlen(key), redis.ping()]),
    };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
