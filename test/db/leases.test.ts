import { describe, expect, test } from "bun:test";
import { connectDatabase } from "../../src/db/database.ts";
import { endLease, tryLease } from "../../src/db/leases.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";

const JOB = "notices";
const MS = 60_000;

describe.each(DIALECTS)("on %s", (dialect) => {
  const storage = storageForTests(dialect);

  const tryAs = (holder: string) => tryLease(storage.database, { job: JOB, holder, ms: MS }, storage.now);

  test("a lease has one holder, who renews it", async () => {
    expect(await tryAs("a")).toBe(true);
    expect(await tryAs("b")).toBe(false);
    storage.clock.nowMs += MS - 1;
    expect(await tryAs("a")).toBe(true);
    storage.clock.nowMs += MS;
    expect(await tryAs("b")).toBe(false);
  });

  test("a holder that stopped renewing is replaced once the lease has ended", async () => {
    await tryAs("a");
    storage.clock.nowMs += MS + 1;
    expect(await tryAs("b")).toBe(true);
    expect(await tryAs("a")).toBe(false);
  });

  test("a lease that is given back is free, and only its holder can give it back", async () => {
    await tryAs("a");
    await endLease(storage.database, { job: JOB, holder: "b" });
    expect(await tryAs("b")).toBe(false);
    await endLease(storage.database, { job: JOB, holder: "a" });
    expect(await tryAs("b")).toBe(true);
  });

  test("a clock that is set back by a day does not block a job for a day", async () => {
    await tryAs("a");
    storage.clock.nowMs -= 86_400_000;
    expect(await tryAs("b")).toBe(true);
  });

  test("of two connections that try at once, one gets the lease", async () => {
    const other = await connectDatabase(storage.location);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        tryLease(
          index % 2 ? other : storage.database,
          { job: JOB, holder: `h${index}`, ms: MS },
          storage.now,
        ),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    await other.close();
  });
});
