// Runs every test: first the files that get along with each other, several at a time, then those that measure
// time or memory, one after the other with nothing beside them. The second run follows whatever the first says.
// With paths as arguments, runs the tests below those alone, one file after the other.
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { stopServers } from "../support/guarded-process.ts";
import { TEST_MS } from "../support/timeouts.ts";
import { joinReports } from "./join-reports.ts";
import { installPrograms, startSharedServers } from "./prepare.ts";

/** Folders and files that hold times or memory against bounds which other tests beside them would break. */
const ALONE = [
  "test/gateway/watch.test.ts",
  "test/http/faults/client-disconnect.test.ts",
  "test/http/long-requests.test.ts",
  "test/limiter/chaos/",
  "test/storm/",
  "test/tokens/count-tokens.test.ts",
];
/** Files at a time: one per core. More than three gain little and want half a gigabyte each. */
const WORKERS = Math.min(Math.max(availableParallelism(), 2), 3);
const REPORTS = "reports";

mkdirSync(REPORTS, { recursive: true });
await installPrograms();
const servers = await startSharedServers();
const paths = Bun.argv.slice(2);
const runs = paths.length > 0 ? [await runTests("some", paths)] : await runAll();
await stopServers();
await joinReports(
  runs.map(({ report }) => report),
  `${REPORTS}/junit.xml`,
);
process.exit(runs.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0);

async function runAll(): Promise<readonly Run[]> {
  const together = await runTests("together", [
    `--parallel=${WORKERS}`,
    ...ALONE.map((path) => `--path-ignore-patterns=${path.replace(/\/$/, "/**")}`),
  ]);
  return [together, await runTests("alone", ALONE)];
}

interface Run {
  readonly exitCode: number;
  /** Path of the JUnit report. */
  readonly report: string;
}

async function runTests(name: string, options: readonly string[]): Promise<Run> {
  const report = `${REPORTS}/${name}.xml`;
  // That of an earlier run would be taken for this one's when this one breaks off.
  rmSync(report, { force: true });
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const child = Bun.spawn([process.execPath, "test", `--timeout=${TEST_MS}`, ...reporter, ...options], {
    env: { ...process.env, ...servers },
    stdio: ["inherit", "inherit", "inherit"],
  });
  return { exitCode: await child.exited, report };
}
