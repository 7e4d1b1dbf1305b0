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

/** Lives of wallets; in every other one time stands still, so that it is one large batch. */
const lives: fc.Arbitrary<readonly Step[]> = fc
  .tuple(steps, fc.boolean())
  .map(([life, standsStill]) => (standsStill ? life.filter((step) => "command" in step) : life));

let runs = 0;
/** A name for the wallets of one run, of which the store has never heard. */
function freshRun(): string {
  runs += 1;
  return `run${runs}-`;
}

test.each(STORES)("on %s n commands in one batch equal n batches of one", async (_, opened, numRuns) => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const batches = batchesOf(life);
      const [whole, single] = [freshRun(), freshRun()];
      const said = await runAll(opened(), batches, { run: whole, isWhole: true });
      expectSame(said, await runAll(opened(), batches, { run: single, isWhole: false }), batches);
      for (const wallet of ["a", "b"]) {
        const rows = await opened().dump(`${whole}${wallet}`);
        expect(rows.length).toBeGreaterThan(1);
        expect(rows).toEqual(await opened().dump(`${single}${wallet}`));
      }
    }),
    { numRuns },
  );
});

test("SQLite, PostgreSQL and the pure rules give the same answers, and the stores read the same", async () => {
  const opened = STORES.map(([, open]) => open());
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const batches = batchesOf(life);
      const expected = decideAll(batches);
      const run = freshRun();
      const readings: unknown[] = [];
      for (const each of opened) {
        expectSame(await runAll(each, batches, { run, isWhole: true }), expected, batches);
        readings.push([await readAll(each, `${run}a`), await readAll(each, `${run}b`)]);
      }
      expect(readings[0]).toEqual(readings[1]);
    }),
    { numRuns: 60 },
  );
});
