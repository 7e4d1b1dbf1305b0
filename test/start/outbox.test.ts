import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture("drain_s: 10");
});
afterEach(() => fixture.close());

const dataFolder = () => join(fixture.folder, "data");

/** Locks the ledger database for writers until `unlock`. */
function lockDatabase(): { unlock(): void } {
  const client = new Database(join(dataFolder(), "tollgate.db"));
  client.run("PRAGMA busy_timeout = 60000");
  client.run("BEGIN IMMEDIATE");
  return {
    unlock() {
      client.run("ROLLBACK");
      client.close();
    },
  };
}

/** Starts a stream that pauses in the middle, and locks the database then. `open` continues the stream. */
async function streamIntoOutage(gateway: ServedProcess) {
  const { opened, open } = gate();
  fixture.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${fixture.secret}` },
    body: JSON.stringify({
      model: "chat",
      stream: true,
      messages: [{ role: "user", content: "Say hello." }],
    }),
  });
  expect(response.status).toBe(200);
  const { unlock } = lockDatabase();
  return { open, unlock, rest: response.text() };
}

async function untilReplayed(): Promise<void> {
  await until(() => findOutboxes(dataFolder()).length === 0);
}

describe("a stream that finished while the ledger was unavailable", () => {
  test("is charged once after the gateway was killed and restarted", async () => {
    const gateway = await fixture.serve();
    const { open, unlock, rest } = await streamIntoOutage(gateway);
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    gateway.signal("SIGKILL");
    await gateway.exitCode;
    unlock();
    expect(findOutboxes(dataFolder())).toMatchObject([{ entries: 1, isReadable: true }]);

    await fixture.serve();
    await untilReplayed();
    expect(await fixture.accounts()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });

  test("is charged once after SIGTERM and a restart, and SIGTERM logs what stays in the outbox", async () => {
    const gateway = await fixture.serve();
    const { open, unlock, rest } = await streamIntoOutage(gateway);
    gateway.signal("SIGTERM");
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    expect(await gateway.exitCode).toBe(0);
    unlock();
    expect(gateway.stdout()).toContain("settlements left in the outbox");
    expect(findOutboxes(dataFolder())).toMatchObject([{ entries: 1, isReadable: true }]);

    await fixture.serve();
    await untilReplayed();
    expect(await fixture.accounts()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });
});
