import { expect, test } from "bun:test";
import { createAuditJob } from "../../src/app/audit-job.ts";
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
    let release: () => void = () => undefined;
    if (database.dialect === "postgres") {
      // The audit waits for this lock, as it would for a long query.
      const { promise, resolve } = Promise.withResolvers<void>();
      const locked = Promise.withResolvers<void>();
      const locker = database.postgres.connect({ max: 1 });
      const holding = locker.begin(async (tx) => {
        await tx.unsafe("LOCK TABLE transfers IN ACCESS EXCLUSIVE MODE");
        locked.resolve();
        await promise;
      });
      await locked.promise;
      release = () => void resolve(holding.then(() => locker.close()));
    }
    expect(await job.start()).toBe(true);
    await job.close();
    release();
    expect(log.text()).toBe('{"level":"info","event":"audit stopped"}');
    expect(await job.last()).toBeUndefined();
    const later = createAuditJob({ database, log, now: Date.now });
    expect(await later.start()).toBe(true);
    await until(async () => (await later.last()) !== undefined);
    await later.close();
    await storage.close();
  },
);
