import { expect, test } from "bun:test";
import { PLANTED } from "./faults.ts";
import { MISFORTUNE_NAMES } from "./misfortunes.ts";
import { readOptions, replayCommand } from "./options.ts";
import { ruleOf } from "./report.ts";
import { runSeed } from "./run-seed.ts";
import { shrink } from "./shrink.ts";

const TEST_MS_MAX = 300_000;
const faults = PLANTED.slot_not_given_back;
const bounds = { requests: 80 };
/** Some worlds live for days, which has nothing to show here. */
const until = 5_000;

/** A seed that a fault was found with. */
function brokenSeed(): number {
  const seeds = Array.from({ length: 40 }, (_, place) => place + 1);
  return seeds.find((seed) => runSeed({ seed, faults, bounds, until }).failure !== undefined) ?? 0;
}

test(
  "a shrunk run breaks the rule of its seed in fewer steps and with fewer kinds of misfortune",
  () => {
    const shrunk = shrink({ seed: brokenSeed(), faults, bounds }, { runs: 12 });
    const { first, result, options } = shrunk ?? expect.unreachable();
    expect(result.steps).toBeLessThan(first.steps);
    expect(options.without?.length).toBeGreaterThan(MISFORTUNE_NAMES.length / 2);
    const again = runSeed({ ...options, until: result.steps });
    expect(again.digest).toBe(result.digest);
    expect(ruleOf(again.failure)).toBe(ruleOf(first.failure));
  },
  TEST_MS_MAX,
);

test("a misfortune that a run is without never happens in it", () => {
  const without = MISFORTUNE_NAMES.filter((name) => name !== "client_leaves");
  const results = [1, 2, 3].map((seed) => runSeed({ seed, without, bounds, until }));
  const happened = MISFORTUNE_NAMES.filter((name) => results.some(({ counts }) => counts[name] > 0));
  expect(results.map(({ failure }) => failure)).toEqual(results.map(() => undefined));
  expect(happened).toEqual(["client_leaves"]);
});

test("a replay command is read back as the run that it prints", () => {
  const few = { gateways: 1, upstreams: undefined, keys: 2, requests: 30 };
  const run = { seed: 7, days: 2, until: 99, bounds: few, without: MISFORTUNE_NAMES.slice(1) };
  const command = replayCommand(run);
  expect(command).toContain(`--only ${MISFORTUNE_NAMES[0]}`);
  const [, , , ...args] = command.split(" ");
  expect(readOptions(args)).toMatchObject(run);
});

test.each([[["--only", "x"]], [["--minutes", "many"]], [["--nothing"]]])(
  "arguments that mean nothing are rejected: %p",
  (args) => expect(() => readOptions(args)).toThrow(),
);
