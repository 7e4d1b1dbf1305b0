import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findJournals } from "../../src/settlement-outbox/outbox.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { createPaidKey } from "./paid-key.ts";

let upstream: ScriptedUpstream;
let folder: string;
let secret: string;
let served: ServedProcess | undefined;

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  folder = tempFolder();
  writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, "drain_s: 10"));
  secret = await createPaidKey(folder);
});
afterEach(async () => {
  served?.signal("SIGKILL");
  await served?.exitCode;
  await upstream.stop();
});

const dataFolder = () => join(folder, "data");

async function serve(): Promise<ServedProcess> {
  served = await startServedProcess({ folder, environment: { LEDGER_LISTEN: "off" } });
  return served;
}

/** Holds the lock of the books as long as the test wants. */
function lockBooks(): { unlock(): void } {
  const client = new Database(join(dataFolder(), "tollgate.db"));
  client.run("PRAGMA busy_timeout = 1000");
  client.run("BEGIN IMMEDIATE");
  return {
    unlock() {
      client.run("ROLLBACK");
      client.close();
    },
  };
}

/** Begins a stream, takes the ledger away in the middle of it, and lets it go on when asked. */
async function streamIntoOutage(gateway: ServedProcess) {
  const { opened, open } = gate();
  upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      model: "chat",
      stream: true,
      messages: [{ role: "user", content: "Say hello." }],
    }),
  });
  expect(response.status).toBe(200);
  const { unlock } = lockBooks();
  return { open, unlock, rest: response.text() };
}

async function untilReplayed(): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (findJournals(dataFolder()).length > 0) {
    if (performance.now() > deadline) throw new Error("The journal is not replayed");
    await Bun.sleep(10);
  }
}

async function accountAfterwards(): Promise<unknown> {
  return (await runTollgate(folder, ["account", "list", "--json"])).json().accounts;
}

describe("a stream that a client saw finished while the ledger was away", () => {
  test("is charged once after the gateway was killed", async () => {
    const gateway = await serve();
    const { open, unlock, rest } = await streamIntoOutage(gateway);
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    gateway.signal("SIGKILL");
    await gateway.exitCode;
    unlock();
    expect(findJournals(dataFolder())).toMatchObject([{ entries: 1, isReadable: true }]);

    await serve();
    await untilReplayed();
    expect(await accountAfterwards()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });

  test("is charged once after the gateway was told to end, which says what it left", async () => {
    const gateway = await serve();
    const { open, unlock, rest } = await streamIntoOutage(gateway);
    gateway.signal("SIGTERM");
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    expect(await gateway.exitCode).toBe(0);
    unlock();
    expect(gateway.stdout()).toContain("settlements are left in the journal");
    expect(findJournals(dataFolder())).toMatchObject([{ entries: 1, isReadable: true }]);

    await serve();
    await untilReplayed();
    expect(await accountAfterwards()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });
});
