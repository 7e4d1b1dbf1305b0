import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Step, steps } from "./commands.ts";
import { batchesOf, decideAll, expectSame, readAll, runAll, useStore } from "./contract/batches.ts";
import { openPostgresStore } from "./contract/postgres.ts";
import { openSqliteStore } from "./contract/sqlite.ts";

const STORES = [
  ["SQLite", useStore(openSqliteStore), 60],
  ["PostgreSQL", useStore(openPostgresStore), 20],
] as const;

/** Random steps. Half of the runs have no passing time, so that all commands are one batch. */
const runs: fc.Arbitrary<readonly Step[]> = fc
  .tuple(steps, fc.boolean())
  .map(([given, isOneBatch]) => (isOneBatch ? given.filter((step) => "command" in step) : given));

let runCount = 0;
/** Returns a new prefix for the wallet ids of one run. */
function nextRun(): string {
  runCount += 1;
  return `run${runCount}-`;
}

test.each(STORES)(
  "in %s, n commands in one batch equal n batches of one command",
  async (_, opened, numRuns) => {
    await fc.assert(
      fc.asyncProperty(runs, async (given) => {
        const batches = batchesOf(given);
        const [whole, single] = [nextRun(), nextRun()];
        const completions = await runAll(opened(), batches, { run: whole, isWhole: true });
        expectSame(completions, await runAll(opened(), batches, { run: single, isWhole: false }), batches);
        for (const wallet of ["a", "b"]) {
          const rows = await opened().dump(`${whole}${wallet}`);
          expect(rows.length).toBeGreaterThan(1);
          expect(rows).toEqual(await opened().dump(`${single}${wallet}`));
        }
      }),
      { numRuns },
    );
  },
);

test("SQLite, PostgreSQL and the rules alone have equal results, and both stores have equal reads", async () => {
  const opened = STORES.map(([, open]) => open());
  await fc.assert(
    fc.asyncProperty(runs, async (given) => {
      const batches = batchesOf(given);
      const expected = decideAll(batches);
      const run = nextRun();
      const allReads: unknown[] = [];
      for (const each of opened) {
        expectSame(await runAll(each, batches, { run, isWhole: true }), expected, batches);
        allReads.push([await readAll(each, `${run}a`), await readAll(each, `${run}b`)]);
      }
      expect(allReads[0]).toEqual(allReads[1]);
    }),
    { numRuns: 60 },
  );
});
