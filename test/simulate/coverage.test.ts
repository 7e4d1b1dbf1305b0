import { expect, test } from "bun:test";
import { join } from "node:path";

const TEST_MS_MAX = 300_000;

/** What a simulation of one seed prints of its coverage. */
async function readCoverage(): Promise<readonly string[]> {
  const run = [
    join(import.meta.dir, "simulate.ts"),
    "--coverage",
    "--seed",
    "1",
    "--seeds",
    "1",
    "--requests",
    "100",
  ];
  const child = Bun.spawn([process.execPath, ...run], { stdio: ["ignore", "pipe", "ignore"] });
  return (await new Response(child.stdout).text()).split("\n");
}

test(
  "the coverage names the branches that were not taken by file, line and source",
  async () => {
    const lines = await readCoverage();
    const untaken = lines.filter((line) => line.startsWith("  src/"));
    expect(untaken.length).toBeGreaterThan(100);
    const sums = lines.filter((line) => /^src\/.*: \d+ of \d+ branches taken/.test(line));
    expect(sums.map((line) => line.split(":")[0])).toEqual([
      "src/gateway",
      "src/ledger/core",
      "src/ledger/engine",
      "src/settlement-outbox",
    ]);
    const [, file = "", number = "", source = ""] =
      /^ {2}(.*?):(\d+) .*? \| (.*)$/.exec(untaken[0] ?? "") ?? [];
    const text = await Bun.file(join(import.meta.dir, "../..", file)).text();
    expect(text.split("\n")[Number(number) - 1]).toContain(source);
  },
  TEST_MS_MAX,
);
