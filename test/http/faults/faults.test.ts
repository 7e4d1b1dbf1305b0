import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_FAULTS, ENDLESS_BODY } from "./body-faults.ts";
import { CONNECTION_FAULTS } from "./connection-faults.ts";
import { EMPTY_FAULTS } from "./empty-faults.ts";
import type { Fault } from "./fault.ts";
import { casesOf, type FaultCase, type FaultEnv, startFaultEnv } from "./fault-env.ts";
import { secrets } from "./fault-scripts.ts";
import { playCase } from "./play-case.ts";
import { SSE_FAULTS } from "./sse-faults.ts";
import { ELSEWHERE, STATUS_FAULTS } from "./status-faults.ts";
import { STREAM_FAULTS } from "./stream-faults.ts";
import { TIME_FAULTS } from "./time-faults.ts";
import { TOOL_FAULTS } from "./tool-faults.ts";
import { USAGE_FAULTS } from "./usage-faults.ts";

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

/** More concurrent cases would only wait for each other. */
const withinLimit = createConcurrencyLimit(24);

let env: FaultEnv;
beforeAll(async () => {
  env = await startFaultEnv([...FAULTS, ...TIME_FAULTS, ENDLESS_BODY]);
});
afterAll(() => env.stop());

const EVERYWHERE = "whole and streamed, on both surfaces, with one route and two, everything is right after";

describe(EVERYWHERE, () => {
  test.concurrent.each(named(FAULTS))("%s", (_name, fault) => expectEveryCase(fault));
  // Sequential, because the timeouts are short, or 100 MiB of each answer are read before a keep-alive is due.
  test.each(named([...TIME_FAULTS, ENDLESS_BODY]))("%s", (_name, fault) => expectEveryCase(fault));
});

function named(faults: readonly Fault[]) {
  return faults.map((fault) => [fault.name, fault] as const);
}

async function expectEveryCase(fault: Fault): Promise<void> {
  const failures = await Promise.all(
    casesOf(fault).map((faultCase) => withinLimit(() => tryCase(faultCase))),
  );
  expect(failures.filter((failure) => failure !== undefined)).toEqual([]);
}

/** Returns the failure of a case with its name, so that every case of a fault runs. */
async function tryCase(faultCase: FaultCase): Promise<string | undefined> {
  try {
    await playCase(env, faultCase);
    return undefined;
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    return `${faultCase.id}: ${Bun.stripANSI(text)}`;
  }
}

describe("after all faults", () => {
  test("no redirect was followed", () => {
    const { seen } = env.gateway.upstream;
    expect(seen.filter(({ target }) => target.includes(ELSEWHERE))).toEqual([]);
  });

  test("no connection to a server that never answers is open", () => expect(env.muteSockets()).toBe(0));

  test("the log contains no upstream text, no address and no key", () =>
    secrets.expectNone(env.gateway.log.text()));
});

/** Runs at most `count` tasks at a time. The others wait in order. */
function createConcurrencyLimit(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];

  const begin = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const end = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await begin();
    try {
      return await work();
    } finally {
      end();
    }
  };
}
