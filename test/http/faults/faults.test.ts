import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_FAULTS } from "./body-faults.ts";
import { CONNECTION_FAULTS } from "./connection-faults.ts";
import { EMPTY_FAULTS } from "./empty-faults.ts";
import type { Fault } from "./fault.ts";
import { playCell } from "./play-cell.ts";
import { secrets } from "./speak.ts";
import { SSE_FAULTS } from "./sse-faults.ts";
import { ELSEWHERE, STATUS_FAULTS } from "./status-faults.ts";
import { STREAM_FAULTS } from "./stream-faults.ts";
import { TIME_FAULTS } from "./time-faults.ts";
import { TOOL_FAULTS } from "./tool-faults.ts";
import { createTurns } from "./turns.ts";
import { USAGE_FAULTS } from "./usage-faults.ts";
import { type Cell, cellsOf, startWorld, type World } from "./world.ts";

const FAULTS: readonly Fault[] = [
  ...CONNECTION_FAULTS,
  ...STATUS_FAULTS,
  ...BODY_FAULTS,
  ...USAGE_FAULTS,
  ...EMPTY_FAULTS,
  ...STREAM_FAULTS,
  ...SSE_FAULTS,
  ...TOOL_FAULTS,
];

/** More at once would only wait for each other. */
const takeTurn = createTurns(24);

let world: World;
beforeAll(async () => {
  world = await startWorld([...FAULTS, ...TIME_FAULTS]);
});
afterAll(() => world.stop());

const EVERYWHERE = "whole and streamed, on both surfaces, with one route and with two, all is right behind";

describe(EVERYWHERE, () => {
  test.concurrent.each(named(FAULTS))("%s", (_name, fault) => expectAllRight(fault));
  // One after another, because their limits are short.
  test.each(named(TIME_FAULTS))("%s", (_name, fault) => expectAllRight(fault));
});

function named(faults: readonly Fault[]) {
  return faults.map((fault) => [fault.name, fault] as const);
}

async function expectAllRight(fault: Fault): Promise<void> {
  const failures = await Promise.all(cellsOf(fault).map((cell) => takeTurn(() => tryCell(cell))));
  expect(failures.filter((failure) => failure !== undefined)).toEqual([]);
}

/** What is wrong with a cell, under its name; all of a fault's cells are played whatever one of them shows. */
async function tryCell(cell: Cell): Promise<string | undefined> {
  try {
    await playCell(world, cell);
    return undefined;
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    return `${cell.id}: ${Bun.stripANSI(text)}`;
  }
}

describe("after all of that", () => {
  test("no redirect was followed", () => {
    const { seen } = world.gateway.upstream;
    expect(seen.filter(({ target }) => target.includes(ELSEWHERE))).toEqual([]);
  });

  test("no connection is open that nobody answers", () => {
    expect(world.muteSockets()).toBe(0);
  });

  test("the log holds no word of an upstream, no address and no key", () => {
    secrets.expectNone(world.gateway.log.text());
  });
});
