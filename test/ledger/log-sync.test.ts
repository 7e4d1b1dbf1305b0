import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogSync } from "../../src/ledger/sqlite/log-sync.ts";

function inFolder(act: (database: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-log-sync-"));
    try {
      await act(join(folder, "books.db"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

describe("createLogSync()", () => {
  test(
    "commits that come while a sync runs are all answered by the next one",
    inFolder(async (database) => {
      writeFileSync(`${database}-wal`, "frames");
      const log = createLogSync(database);
      await Promise.all(Array.from({ length: 100 }, () => log.sync()));
      log.close();
    }),
  );

  test(
    "a log that is not there is refused, and found once it is",
    inFolder(async (database) => {
      const log = createLogSync(database);
      await expect(log.sync()).rejects.toThrow("ENOENT");
      writeFileSync(`${database}-wal`, "frames");
      await log.sync();
      log.close();
    }),
  );

  test(
    "a log that cannot be synced refuses all who wait, and all who come after",
    inFolder(async (database) => {
      symlinkSync("/dev/null", `${database}-wal`);
      const log = createLogSync(database);
      // Awaited together: while one is expected, the other's rejection would be nobody's.
      const outcomes = await Promise.allSettled([log.sync(), log.sync()]);
      const codes = outcomes.map((each) => (each.status === "rejected" ? each.reason.code : "synced"));
      expect(codes).toEqual(["EINVAL", "EINVAL"]);
      await expect(log.sync()).rejects.toThrow("EINVAL");
      log.close();
    }),
  );
});
