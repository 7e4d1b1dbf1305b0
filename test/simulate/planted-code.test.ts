import { expect, test } from "bun:test";
import { findPlanted } from "./find-planted.ts";
import { readOptions } from "./options.ts";
import { findOutdated } from "./plant-code.ts";
import { PLANTED_CODE } from "./planted-code.ts";
import { runSeed } from "./run-seed.ts";

/** Small worlds, and many times the seeds that each fault took: every change of the code gives other worlds. */
const WORLDS = { seeds: 200, requests: 300 };
const TEST_MS_MAX = 600_000;

const QUICK = Object.entries(PLANTED_CODE).filter(([, { isQuick }]) => isQuick);

test("every planted fault still fits the code: its texts occur once in their files", () =>
  expect(findOutdated()).toEqual([]));

test.each(QUICK)(
  "a fault planted into the code is found, and the same world without it breaks no rule: %s",
  async (name) => {
    const { isFound, text } = await findPlanted(name, WORLDS);
    if (!isFound) throw new Error(`The simulation does not find ${name}:\n${text}`);
    expect(text).toContain("replay: bun run simulate");
    expect(runSeed(readOptions(replayArguments(text))).failure).toBeUndefined();
  },
  TEST_MS_MAX,
);

/** Of the printed replay. The fault itself is planted by the command only. */
function replayArguments(text: string): readonly string[] {
  const [, args = ""] = /replay: bun run simulate (.*)$/m.exec(text) ?? [];
  return args.split(" ");
}
