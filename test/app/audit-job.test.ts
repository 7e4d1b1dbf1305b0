import { expect, test } from "bun:test";
import { createAuditJob } from "../../src/app/audit-job.ts";
import type { PostgresDatabase } from "../../src/db/postgres/database.ts";
import { DIALECTS, openTempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

test.each(DIALECTS)(
  "a stop ends a running audit of %s, gives its lease back and keeps no result",
  async (dialect) => {
    const storage = await openTempStorage(dialect);
    const { database } = storage;
    const log = createCapturedLog();
    const job = createAuditJob({ database, log, now: Date.now });
    const release = database.dialect === "postgres" ? await lockTransfers(database.postgres) : undefined;
    expect(await job.start()).toBe(true);
    await job.close();
    await release?.();
    expect(log.text()).toBe('{"level":"info","event":"audit stopped"}');
    expect(await job.last()).toBeUndefined();
    const later = createAuditJob({ database, log, now: Date.now });
    expect(await later.start()).toBe(true);
    await until(async () => (await later.last()) !== undefined);
    await later.close();
    await storage.close();
  },
);

/** Locks a table, for which an audit waits as it would for a long query. Resolves with what unlocks it. */
async function lockTransfers({ connect }: PostgresDatabase): Promise<() => Promise<void>> {
  const unlocked = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const client = connect({ max: 1 });
  const holding = client.begin(async (tx) => {
    await tx.unsafe("LOCK TABLE transfers IN ACCESS EXCLUSIVE MODE");
    locked.resolve();
    await unlocked.promise;
  });
  await locked.promise;
  return async () => {
    unlocked.resolve();
    await holding;
    await client.close();
  };
}
