import { expect, test } from "bun:test";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

test("tollgate retention reports what would be dropped, and compact rewrites the file", async () => {
  const folder = tempFolder();
  await runTollgate(folder, ["account", "create", "--name", "acme"], {});
  const reported = await runTollgate(folder, ["retention", "--receipts-days", "30", "--json"], {});
  expect(reported.json()).toMatchObject({
    receipts_days: 30,
    receipts_from: null,
    dropped_receipts: 0,
    would_drop_before: null,
    would_drop_receipts: 0,
    paused_until: null,
  });
  const compacted = await runTollgate(folder, ["compact", "--json"], {});
  expect([compacted.exitCode, compacted.json().bytes]).toEqual([0, expect.any(Number)]);
});
