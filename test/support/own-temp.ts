import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Whatever a test or a process it starts leaves in the temporary folder goes with the run.
const folder = mkdtempSync(join(tmpdir(), "tollgate-tests-"));
process.env.TMPDIR = folder;

afterAll(() => rmSync(folder, { recursive: true, force: true }));
