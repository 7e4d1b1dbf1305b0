import { expect, test } from "bun:test";
import { findPlanted } from "./find-planted.ts";
import { findOutdated, PLANTED_CODE } from "./planted-code.ts";

/** Many times the seeds that each fault took, since every change of the code gives other worlds. */
const SEEDS_MAX = 200;
const TEST_MS_MAX = 600_000;

const QUICK = Object.entries(PLANTED_CODE).filter(([, { isQuick }]) => isQuick);

test("every planted fault still fits the code: its texts occur once in their files", () =>
  expect(findOutdated()).toEqual([]));

test.each(QUICK)(
  "a fault planted into the code is found: %s",
  async (name) => {
    const { isFound, text } = await findPlanted(name, SEEDS_MAX);
    if (!isFound) throw new Error(`The simulation does not find ${name}:\n${text}`);
    expect(text).toContain("replay: bun run simulate");
  },
  TEST_MS_MAX,
);
