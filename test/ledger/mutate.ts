// Plants each fault of faults.ts in a copy of the ledger and runs the tests of the rules against it: a
// fault that they let live, or that no longer applies to the text, fails the run.
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAULTS, type Fault } from "./faults.ts";

const ROOT = join(import.meta.dir, "../..");
const TESTS = ["decide", "properties", "period"].map((name) => `test/ledger/${name}`);
/** The same random lives in every run, and no time spent on making a failing one shorter. */
const SEED = `import fc from "fast-check";\nfc.configureGlobal({ seed: 20260114, endOnFailure: true });\n`;
const RUN_MS_MAX = 60_000;
const AT_ONCE = 2;

/** What became of a fault: `killed` is what it should be. */
type Fate = "killed" | "SURVIVED" | "DOES NOT APPLY" | "DOES NOT RUN";

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-mutate-"));
  for (const folder of ["src", "test/ledger", "test/support"]) {
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  }
  for (const file of ["package.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "seed.ts"), SEED);
  return copy;
}

/** Runs the tests in a copy of the tree. */
async function runTests(copy: string): Promise<{ readonly passed: boolean; readonly output: string }> {
  const tests = Bun.spawn([process.execPath, "test", "--preload", "./seed.ts", "--bail", ...TESTS], {
    cwd: copy,
    stdout: "ignore",
    stderr: "pipe",
    timeout: RUN_MS_MAX,
  });
  const output = await new Response(tests.stderr).text();
  return { passed: (await tests.exited) === 0, output };
}

async function fateOf(copy: string, { file, from, to }: Fault): Promise<Fate> {
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

/** Goes through the faults that are left, in a copy of its own, until there are none. */
async function plantAll(left: Fault[], fates: Map<Fault, Fate>): Promise<void> {
  const copy = copyTree();
  try {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const fate = await fateOf(copy, fault);
      fates.set(fault, fate);
      console.log(`${fate.padEnd(14)} ${fault.file}: ${fault.says}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function expectSound(): Promise<void> {
  const copy = copyTree();
  const { passed, output } = await runTests(copy);
  rmSync(copy, { recursive: true, force: true });
  if (!passed) throw new Error(`The tests fail without any fault:\n${output}`);
}

await expectSound();
const left = [...FAULTS];
const fates = new Map<Fault, Fate>();
await Promise.all(Array.from({ length: AT_ONCE }, () => plantAll(left, fates)));
const killed = [...fates.values()].filter((fate) => fate === "killed").length;
console.log(`${killed} of ${FAULTS.length} faults killed`);
if (killed < FAULTS.length) process.exit(1);
