// usage: bun run mutate [FILE...] with parts of the names of files. Default: all.
// Applies each mutation of faults.ts to a copy of the ledger and runs the tests of the rules on it. The run
// fails when the tests pass on a mutation, or when a mutation no longer applies to the source text.
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAULTS, type Fault } from "./faults.ts";

const ROOT = join(import.meta.dir, "../..");
const TESTS = ["ledger/decide", "ledger/properties", "domain/period"].map((name) => `test/${name}`);
/** A fixed seed, and no shrinking of failing examples. */
const SEED = `import fc from "fast-check";\nfc.configureGlobal({ seed: 20260114, endOnFailure: true });\n`;
const RUN_MS_MAX = 60_000;
const AT_ONCE = 2;

/** The result of the tests on a mutation; `killed` is the expected one. */
type Status = "killed" | "SURVIVED" | "DOES NOT APPLY" | "DOES NOT RUN";

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-mutate-"));
  for (const folder of ["src", "test/domain", "test/ledger", "test/support"]) {
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  }
  for (const file of ["package.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "seed.ts"), SEED);
  return copy;
}

/** Runs the tests in a copy of the tree. */
async function runTests(copy: string): Promise<{ readonly passed: boolean; readonly output: string }> {
  const tests = Bun.spawn(
    [process.execPath, "test", `--timeout=${RUN_MS_MAX}`, "--preload", "./seed.ts", "--bail", ...TESTS],
    {
      cwd: copy,
      stdout: "ignore",
      stderr: "pipe",
      timeout: RUN_MS_MAX,
    },
  );
  const output = await new Response(tests.stderr).text();
  return { passed: (await tests.exited) === 0, output };
}

async function statusOf(copy: string, { file, from, to }: Fault): Promise<Status> {
  const path = join(copy, "src/ledger", file);
  const text = await Bun.file(path).text();
  if (text.split(from).length !== 2) return "DOES NOT APPLY";
  await Bun.write(
    path,
    text.replace(from, () => to),
  );
  const { passed, output } = await runTests(copy);
  await Bun.write(path, text);
  if (passed) return "SURVIVED";
  return output.includes("Unhandled error between tests") ? "DOES NOT RUN" : "killed";
}

/** Takes faults off `left` and tests each in one copy of the tree, until none is left. */
async function testAll(left: Fault[], statuses: Map<Fault, Status>): Promise<void> {
  const copy = copyTree();
  try {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const status = await statusOf(copy, fault);
      statuses.set(fault, status);
      console.log(`${status.padEnd(14)} ${fault.file}: ${fault.name}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function expectPassing(): Promise<void> {
  const copy = copyTree();
  const { passed, output } = await runTests(copy);
  rmSync(copy, { recursive: true, force: true });
  if (!passed) throw new Error(`The tests fail without a mutation:\n${output}`);
}

const files = process.argv.slice(2);
const chosen = FAULTS.filter(({ file }) => files.length === 0 || files.some((name) => file.includes(name)));
await expectPassing();
const left = [...chosen];
const statuses = new Map<Fault, Status>();
await Promise.all(Array.from({ length: AT_ONCE }, () => testAll(left, statuses)));
const killed = [...statuses.values()].filter((status) => status === "killed").length;
console.log(`${killed} of ${chosen.length} faults killed`);
if (killed < chosen.length) process.exit(1);
