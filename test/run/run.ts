// bun run test           checks the code, then runs every test
// bun run test PATH…     runs the test files whose paths contain one of these texts, without checks
// bun run test:unit      runs the tests that start no server and no process, in less than 20 s
//
// The run of every test begins with the files that can run side by side, beside the checks. Those with bounds on time
// or memory follow, two at a time. Each part runs also when an earlier one has failed. Every failure is listed at
// the end.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { TEST_MS } from "../support/timeouts.ts";
import { findFailures, formatFailures } from "./failures.ts";
import { joinReports } from "./join-reports.ts";
import {
  buildExecutable,
  installPrograms,
  type SharedServers,
  startSharedServers,
  stopSharedServers,
} from "./prepare.ts";
import { createRunFolder, removeRunFolder } from "./run-folder.ts";
import { printTimings } from "./start-order.ts";
import { findTestFiles, findUnitFiles } from "./unit-files.ts";

/**
 * Files whose bounds on time or memory would fail beside all others, in groups that run one after the other. Two
 * files of a group run at a time, of which at most one keeps a core busy.
 */
const APART = [
  ["test/storm/storm.test.ts", "test/limiter/chaos/failover.test.ts"],
  [
    "test/limiter/chaos/faults.test.ts",
    "test/limiter/chaos/recovery.test.ts",
    "test/http/faults/client-disconnect.test.ts",
    "test/tokens/count-tokens.test.ts",
    "test/gateway/timeouts.test.ts",
  ],
];
/** Files at a time: more than cores, because most files wait for timers and servers. Each needs half a gigabyte. */
const WORKERS = Math.min(availableParallelism(), 2) + 4;
/** A file finds the modules that earlier ones of its worker have loaded, which saves 250 ms of CPU per file. */
const SIDE_BY_SIDE = [`--parallel=${WORKERS}`, "--no-isolate"];
/**
 * Most code of a test runs a few times: to compile it a last time costs a seventh of the CPU and saves less. Files that
 * measure time run as the program does.
 */
const WITHOUT_LAST_COMPILER = { BUN_JSC_useFTLJIT: "0" };
const REPORTS = "reports";

interface Check {
  readonly exitCode: number;
  /** Everything printed. */
  readonly output: string;
}

interface Run {
  readonly exitCode: number;
  /** Path of the JUnit report. */
  readonly report: string;
  /** Test files that must be in the report. */
  readonly files: readonly string[];
}

mkdirSync(REPORTS, { recursive: true });
// Workers leave an empty folder each in it.
const runFolder = createRunFolder(process.env.TMPDIR);
process.env.TMPDIR = runFolder;
const allFiles = await findTestFiles();
const unitFiles = await findUnitFiles(allFiles);
let shared: SharedServers = {};
let checked: Check = { exitCode: 0, output: "" };
const runs = await runWhatIsAsked(Bun.argv.slice(2));
await stopSharedServers(shared);
removeRunFolder(runFolder);
await printFailures(runs);
await joinReports(
  runs.map(({ report }) => report),
  `${REPORTS}/junit.xml`,
);
if (checked.exitCode !== 0) console.error(`The checks failed:\n${checked.output}`);
process.exit([checked, ...runs].find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0);

async function runWhatIsAsked(options: readonly string[]): Promise<readonly Run[]> {
  if (options.includes("--unit")) return [await runUnit()];
  if (options.length > 0) return [await runSome(options)];
  return runAll();
}

async function runAll(): Promise<readonly Run[]> {
  const [servers, program] = await Promise.all([
    startServers(),
    process.env.TEST_EXECUTABLE ?? buildExecutable(runFolder),
  ]);
  const environment = program ? { ...servers, TEST_EXECUTABLE: program } : servers;
  writeFileSync(`${REPORTS}/timings.json`, printTimings(allFiles));
  const apart = APART.flat();
  const together = [
    ...SIDE_BY_SIDE,
    `--timings=${REPORTS}/timings.json`,
    ...apart.map((path) => `--path-ignore-patterns=${path}`),
  ];
  const others = allFiles.filter((file) => !apart.includes(file));
  const [check, first] = await Promise.all([
    runCheck(),
    runTests("together", together, others, { ...environment, ...WITHOUT_LAST_COMPILER }),
  ]);
  checked = check;
  const all = [first];
  for (const [place, files] of APART.entries())
    all.push(await runTests(`apart-${place + 1}`, ["--parallel=2", ...files], files, environment));
  return all;
}

/** Runs the checks. Keeps their output until the end, because test files print at the same time. */
async function runCheck(): Promise<Check> {
  const { stdout, stderr, exited } = Bun.spawn([process.execPath, "run", "check"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = await Promise.all([new Response(stdout).text(), new Response(stderr).text()]);
  return { exitCode: await exited, output: output.join("") };
}

async function runUnit(): Promise<Run> {
  const files = unitFiles.filter((file) => !APART.flat().includes(file));
  return runTests("unit", [...SIDE_BY_SIDE, ...files], files, WITHOUT_LAST_COMPILER);
}

/** Starts the shared servers only for files that may use them. */
async function runSome(paths: readonly string[]): Promise<Run> {
  const wanted = paths.map((path) => path.replace(/^\.\//, ""));
  const files = allFiles.filter((file) => wanted.some((path) => file.includes(path)));
  const needsServers = files.some((file) => !unitFiles.includes(file));
  return runTests("some", wanted, files, needsServers ? await startServers() : {});
}

async function startServers(): Promise<SharedServers> {
  await installPrograms();
  shared = await startSharedServers();
  return shared;
}

async function runTests(
  name: string,
  options: readonly string[],
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Run> {
  const report = `${REPORTS}/${name}.xml`;
  // The report of an earlier run would be taken for this one's when this one breaks off.
  rmSync(report, { force: true });
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const child = Bun.spawn([process.execPath, "test", `--timeout=${TEST_MS}`, ...reporter, ...options], {
    env: { ...process.env, ...environment },
    stdio: ["inherit", "inherit", "inherit"],
  });
  return { exitCode: await child.exited, report, files };
}

/** Printed last, so that the end of a log contains every failure. */
async function printFailures(all: readonly Run[]): Promise<void> {
  const found = await Promise.all(
    all.map(async ({ exitCode, report, files }) => {
      const file = Bun.file(report);
      // A file whose tests all need absent recordings has no result, and is no failure.
      return findFailures((await file.exists()) ? await file.text() : "", exitCode === 0 ? [] : files);
    }),
  );
  const failures = found.flat();
  if (failures.length > 0) console.error(`\n${formatFailures(failures)}`);
}
