import { expect, test } from "bun:test";
import { join } from "node:path";
import { openLedger } from "../ledger/samples.ts";
import { requireNode, requirePython } from "../support/installed-programs.ts";
import { runProgram } from "../support/run-program.ts";
import { serve, TOKEN } from "./served.ts";

const ROOT = join(import.meta.dir, "../..");

test("a client on Node holds, settles and streams", async () => {
  const node = await requireNode();
  await using served = await serveNewLedger();
  const printed = await runCaller([
    node,
    join(import.meta.dir, "node-caller.mjs"),
    served.address,
    TOKEN,
    join(ROOT, "proto"),
  ]);
  expect(printed).toEqual({
    runtime: "node",
    granted: "400",
    captured: "150",
    posted: "9007199254740843",
    replayed: true,
    other: "ALREADY_EXISTS",
    state: "HOLD_STATE_SETTLED",
    streamed: 200,
  });
});

test("a client in Python, with descriptors from reflection, holds, settles and streams", async () => {
  const python = await requirePython();
  await using served = await serveNewLedger();
  const printed = await runCaller([python, join(import.meta.dir, "python-caller.py"), served.address, TOKEN]);
  expect(printed).toEqual({
    granted: 400,
    captured: 150,
    posted: 9_007_199_254_740_843,
    replayed: true,
    missing: ["INVALID_ARGUMENT", "INVALID_AMOUNT"],
    too_much: ["FAILED_PRECONDITION", "INSUFFICIENT_BALANCE"],
    no_token: ["UNAUTHENTICATED", "UNAUTHENTICATED"],
    // The bytes of HealthCheckResponse with SERVING.
    health: "0801",
    streamed: 200,
  });
});

/** Serves a new ledger in a SQLite file. */
async function serveNewLedger() {
  const { ledger, clock, close } = await openLedger(0n);
  clock.nowMs = Date.now();
  const server = await serve({ ledger });
  return {
    address: server.server.address,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await close();
    },
  };
}

async function runCaller(command: readonly string[]): Promise<unknown> {
  return JSON.parse(await run(command));
}

/** Runs a program and returns its stdout. Throws with its stderr when it fails. */
async function run(command: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runProgram(command, { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`${command[0]} failed: ${stderr}`);
  return stdout;
}
