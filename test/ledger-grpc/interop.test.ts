import { expect, test } from "bun:test";
import { join } from "node:path";
import { openLedger } from "../ledger/samples.ts";
import { requireNode, requirePython } from "../support/installed-programs.ts";
import { TOKEN } from "./caller.ts";
import { serve } from "./served.ts";

const ROOT = join(import.meta.dir, "../../..");

test("a service on Node holds, settles and streams", async () => {
  const node = await requireNode();
  await using books = await openBooks();
  const seen = await runCaller([
    node,
    join(import.meta.dir, "node-caller.mjs"),
    books.address,
    TOKEN,
    join(ROOT, "proto"),
  ]);
  expect(seen).toEqual({
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

test("a service in Python, which knows what reflection tells, holds, settles and streams", async () => {
  const python = await requirePython();
  await using books = await openBooks();
  const seen = await runCaller([python, join(import.meta.dir, "python-caller.py"), books.address, TOKEN]);
  expect(seen).toEqual({
    granted: 400,
    captured: 150,
    posted: 9_007_199_254_740_843,
    replayed: true,
    missing: ["INVALID_ARGUMENT", "INVALID_AMOUNT"],
    too_much: ["FAILED_PRECONDITION", "INSUFFICIENT_BALANCE"],
    no_token: ["UNAUTHENTICATED", "UNAUTHENTICATED"],
    // The message that says SERVING.
    health: "0801",
    streamed: 200,
  });
});

/** A ledger of its own in a file, served. */
async function openBooks() {
  const { ledger, clock, close } = await openLedger(0n);
  clock.nowMs = Date.now();
  const served = await serve({ ledger });
  return {
    address: served.server.address,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await close();
    },
  };
}

async function runCaller(command: readonly string[]): Promise<unknown> {
  return JSON.parse(await run(command));
}

/** What a program prints. Throws with what it complained of when it fails. */
async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [said, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${complaint}`);
  return said;
}
