/** The commands of the prompt, with their arguments, for completion and hints. The server knows them all. */
export const COMMANDS: readonly (readonly [string, string])[] = [
  ["XADD", "key [NOMKSTREAM] [MAXLEN|MINID [=|~] threshold] *|id field value ..."],
  ["XLEN", "key"],
  ["XRANGE", "key start end [COUNT count]"],
  ["XREVRANGE", "key end start [COUNT count]"],
  ["XREAD", "[COUNT count] STREAMS key ... id ..."],
  ["XREADGROUP", "GROUP group consumer [COUNT count] [CLAIM min-idle-ms] [NOACK] STREAMS key ... id ..."],
  ["XACK", "key group id ..."],
  ["XACKDEL", "key group [KEEPREF|DELREF|ACKED] IDS count id ..."],
  ["XNACK", "key group SILENT|FAIL|FATAL IDS count id ..."],
  ["XCLAIM", "key group consumer min-idle-ms id ... [JUSTID] [FORCE]"],
  ["XAUTOCLAIM", "key group consumer min-idle-ms start [COUNT count] [JUSTID]"],
  ["XPENDING", "key group [[IDLE min-idle-ms] start end count [consumer]]"],
  ["XDEL", "key id ..."],
  ["XDELEX", "key [KEEPREF|DELREF|ACKED] IDS count id ..."],
  ["XTRIM", "key MAXLEN|MINID [=|~] threshold [LIMIT count]"],
  ["XSETID", "key last-id [ENTRIESADDED count] [MAXDELETEDID id]"],
  ["XINFO STREAM", "key [FULL [COUNT count]]"],
  ["XINFO GROUPS", "key"],
  ["XINFO CONSUMERS", "key group"],
  ["XGROUP CREATE", "key group id|$ [MKSTREAM] [ENTRIESREAD count]"],
  ["XGROUP SETID", "key group id|$ [ENTRIESREAD count]"],
  ["XGROUP DESTROY", "key group"],
  ["XGROUP CREATECONSUMER", "key group consumer"],
  ["XGROUP DELCONSUMER", "key group consumer"],
  ["DEL", "key ..."],
  ["EXISTS", "key ..."],
  ["TYPE", "key"],
  ["RENAME", "key newkey"],
  ["COPY", "source destination [REPLACE]"],
  ["KEYS", "pattern"],
  ["SCAN", "cursor [MATCH pattern] [COUNT count]"],
  ["DBSIZE", ""],
  ["INFO", "[section]"],
  ["PING", "[message]"],
  ["ECHO", "message"],
  ["TIME", ""],
  ["FLUSHALL", ""],
];

/** Returns the line with its command completed, as far as all matches agree; undefined if there is nothing to add. */
export function completed(line: string): string | undefined {
  const typed = line.trimStart().toUpperCase();
  if (typed === "") return undefined;
  const matches = COMMANDS.map(([name]) => name).filter((name) => name.startsWith(typed));
  const [first, ...others] = matches;
  if (first === undefined) return undefined;
  let end = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, end))) end--;
  const next = others.length === 0 ? `${first} ` : first.slice(0, end);
  return next.length > typed.length ? next : undefined;
}
