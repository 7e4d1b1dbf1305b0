// Bun loads this file before every test file. See bunfig.toml.
import { afterAll, setDefaultTimeout } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServers } from "./guarded-process.ts";
import { TEST_MS } from "./timeouts.ts";

// Applies to a test file that is run by itself. test/run/run.ts passes the limit to Bun as an option.
setDefaultTimeout(TEST_MS);

// Everything that tests and their child processes leave in the temporary folder is removed after the run.
const folder = mkdtempSync(join(tmpdir(), "tollgate-tests-"));
// Lets a database server that runs as another user enter the folder, but not list it.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;

afterAll(async () => {
  await stopServers();
  rmSync(folder, { recursive: true, force: true });
});
