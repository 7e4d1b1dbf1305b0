// Bun loads this file before the first test file of a process. See bunfig.toml.
import { afterAll, setDefaultTimeout } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServers } from "./guarded-process.ts";
import { TEST_MS } from "./timeouts.ts";

// Applies to a test file that is run by itself. test/run/run.ts passes the limit to Bun as an option.
setDefaultTimeout(TEST_MS);

const folder = mkdtempSync(join(tmpdir(), "tollgate-tests-"));
// Lets a database server that runs as another user enter the folder, but not list it.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;

// Everything that tests and their child processes leave in the folder is removed: after each file in one of
// several workers, which keeps the empty folder for its next file, and else after the last file.
afterAll(async () => {
  await stopServers();
  rmSync(folder, { recursive: true, force: true });
  if (process.env.BUN_TEST_WORKER_ID) mkdirSync(folder, { mode: 0o711 });
});
