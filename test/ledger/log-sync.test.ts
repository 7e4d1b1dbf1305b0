import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogSync } from "../../src/ledger/sqlite/log-sync.ts";

function inFolder(act: (database: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-log-sync-"));
    try {
      await act(join(folder, "ledger.db"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

describe("createLogSync()", () => {
  test(
    "commits made during a sync share the next one",
    inFolder(async (database) => {
      writeFileSync(`${database}-wal`, "frames");
      const log = createLogSync(database);
      await Promise.all(Array.from({ length: 100 }, () => log.sync()));
      log.close();
    }),
  );

  test(
    "a missing log fails, and succeeds once it exists",
    inFolder(async (database) => {
      const log = createLogSync(database);
      await expect(log.sync()).rejects.toThrow("ENOENT");
      writeFileSync(`${database}-wal`, "frames");
      await log.sync();
      log.close();
    }),
  );

  test(
    "a failed sync fails all pending and later syncs",
    inFolder(async (database) => {
      symlinkSync("/dev/null", `${database}-wal`);
      const log = createLogSync(database);
      // Awaited together: awaited one by one, the second rejection would be unhandled.
      const results = await Promise.allSettled([log.sync(), log.sync()]);
      const codes = results.map((each) => (each.status === "rejected" ? each.reason.code : "synced"));
      expect(codes).toEqual(["EINVAL", "EINVAL"]);
      await expect(log.sync()).rejects.toThrow("EINVAL");
      log.close();
    }),
  );
});
