import { afterAll } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServers } from "./guarded-process.ts";

// Whatever a test or a process it starts leaves in the temporary folder goes with the run.
const folder = mkdtempSync(join(tmpdir(), "tollgate-tests-"));
// A database server that runs as another user passes through it, and sees nothing but its own folder.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;

afterAll(async () => {
  await stopServers();
  rmSync(folder, { recursive: true, force: true });
});
