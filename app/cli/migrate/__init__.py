"""`tailrace migrate`: moves streams between data directories, Tailrace servers, Redis and Valkey.

**Places.** A place is one end of a migration. Each kind of place is one module that implements `port.Place`,
and all kinds run the same Redis commands. So reading, writing and comparing exist once, and no pair of kinds
is a special case.

**One stream.** `copying` brings one stream up to date, in this order:

1. read the source's facts (`facts`): last id, counters, groups, consumers; and the pending entries lists
   (`groups`);
2. append the missing entries with their own ids, in order (`entries`). An entry that was deleted from the
   source but is still pending there becomes a placeholder, because Redis refuses to make an absent entry
   pending;
3. create groups and consumers, claim and acknowledge pending entries until both sides are equal (`groups`);
4. delete placeholders, and entries that the source no longer has;
5. set last id, counters, positions and settings.

**Restarts.** The target itself shows where to continue: ids rise, each batch of entries is appended
completely or not at all, and steps 3 to 5 repeat without harm. A repeated append of an entry is refused by
its id, so nothing doubles. The state file (`progress`) contains only which target streams belong to this
migration.

**The end.** `comparing` reads both sides completely and compares all of it.

The package never writes to the source, and never writes to a stream of the target that this migration did not
begin, unless it proves to be a part of the source's stream.
"""
