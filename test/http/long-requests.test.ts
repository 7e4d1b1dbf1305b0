import { describe, expect, spyOn, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { platform } from "../../src/platform.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { breakSyncs } from "../support/broken-log.ts";
import { dataOf, objectOf, post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate, type ScriptRequest } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

/** Three times the interval of heartbeats, and longer than the pauses of a busy machine. */
const HOLD_TTL_MS = 3_000;

const gateway = gatewayForTests({ config: { holdTtlMs: HOLD_TTL_MS } });

/** Sends the default answer up to its second word, and the rest when the gate opens. */
function playInHalves(surface: Surface, opened: Promise<void>): void {
  gateway.upstream.on(surface.model, async function* (request: ScriptRequest) {
    let text = "";
    for await (const step of answerWith(undefined, { framing: "until_close" })(request)) {
      if ("send" in step) text += String(step.send);
    }
    const half = request.stream ? text.lastIndexOf("\n\n", text.indexOf(" there")) + 2 : 0;
    yield { send: text.slice(0, half) };
    yield { until: opened };
    yield { send: text.slice(half) };
    yield { leave: "close" };
  });
}

/** When the open hold expires, and the charge that its heartbeats have recorded. */
function openHold() {
  const { client } = gateway.sqlite;
  const sql = "SELECT expires_at_ms AS expiresAtMs, accrued FROM holds WHERE state = 'held'";
  return client.query<{ expiresAtMs: number; accrued: number }, []>(sql).get();
}

/** Expires the holds whose time is up at a time, as the periodic sweep does. */
async function sweep(nowMs: number): Promise<void> {
  const ledger = createSqliteLedger({ database: gateway.sqlite, now: () => nowMs });
  await ledger.sweep();
  await ledger.close();
}

describe.each(SURFACES)("a request longer than the time to live of its hold, on $path,", (surface) => {
  test.each([false, true])("keeps its hold by heartbeats (streamed: %p)", async (stream) => {
    const { opened, open } = gate();
    playInHalves(surface, opened);
    const pending = post(gateway, surface, { stream });
    await gateway.upstream.waitForSeen(1);
    const firstEndMs = openHold()?.expiresAtMs ?? Number.NaN;
    await until(() => Number(openHold()?.expiresAtMs) > firstEndMs);
    await sweep(firstEndMs);
    expect((await gateway.balances()).held).toBeGreaterThan(0n);
    open();
    const response = await pending;
    await response.text();
    expect(await gateway.receiptOf(response)).toMatchObject({
      state: "settled",
      late: false,
      captured: 25_000n,
    });
    await gateway.nothingIsHeld();
  });

  test("whose hold expired is settled in full, once, and marked late", async () => {
    const before = await gateway.balances();
    const { opened, open } = gate();
    playInHalves(surface, opened);
    const response = await post(gateway, surface, { stream: true });
    await until(() => Number(openHold()?.accrued) > 0);
    await sweep(Date.now() + 60_000);
    const expired = await gateway.receiptOf(response);
    expect(expired.state).toBe("expired");
    expect(expired.captured).toBeGreaterThan(0n);
    open();
    expect(await response.text()).toMatch(/\[DONE\]|message_stop/);
    expect(await gateway.receiptOf(response)).toMatchObject({ state: "settled", late: true });
    const { posted, held } = await gateway.balances();
    const { captured } = await gateway.receiptOf(response);
    expect(captured).toBe(expired.captured > 25_000n ? expired.captured : 25_000n);
    expect({ posted, held }).toEqual({ posted: before.posted - captured, held: 0n });
  });
});

describe("a ledger that cannot be written in the middle of a stream", () => {
  const [surface] = SURFACES;

  test("does not change the end of the stream, and gets the settlement later", async () => {
    const { secret, key } = await gateway.newPayer("1", { limits: { concurrentRequests: 1 } });
    const { opened, open } = gate();
    playInHalves(surface, opened);
    const response = await post(gateway, surface, { secret, stream: true });
    const { client } = gateway.sqlite;
    client.run("ALTER TABLE holds RENAME TO lost_table");
    open();
    expect(await response.text()).toEndWith("data: [DONE]\n\n");
    const state = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    client.run("ALTER TABLE lost_table RENAME TO holds");
    expect(await objectOf(state)).toMatchObject({ concurrent_requests: { used: 0 } });
    await outboxIsEmpty();
    expect(await gateway.receiptOf(response, key.accountId)).toMatchObject({
      state: "settled",
      captured: 25_000n,
    });
    expect((await post(gateway, surface, { secret })).status).toBe(200);
  });

  test("ends the stream with an error without a finish when the outbox cannot be written either", async () => {
    const broken = await startTestGateway();
    const folder = join(dirname(broken.sqlite.path), "journal");
    const log = readdirSync(folder).find((name) => name.endsWith("-wal")) ?? "";
    breakSyncs(join(folder, log));
    const { opened, open } = gate();
    broken.upstream.on(surface.model, answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
    const response = await post(broken, surface, { stream: true });
    const { client } = broken.sqlite;
    client.run("ALTER TABLE holds RENAME TO lost_table");
    open();
    const frames = await dataOf(response);
    client.run("ALTER TABLE lost_table RENAME TO holds");
    expect(frames.at(-1)).toMatchObject({ error: { type: "server_error", code: "internal_error" } });
    expect(JSON.stringify(frames)).not.toMatch(/"finish_reason":"/);
    expect(broken.log.text()).toContain("SettlementOutboxError");
    expect((await post(broken, surface)).status).toBe(200);
    await broken.stop();
  });
});

/** Waits until the outbox is empty. */
async function outboxIsEmpty(): Promise<void> {
  await until(() => findOutboxes(dirname(gateway.sqlite.path)).length === 0);
}

describe.each(SURFACES)("a key without money that sends many requests, on $path,", (surface) => {
  test("is declined from memory for a second, and then by the wallet again", async () => {
    const { secret, key } = await gateway.newPayer("0");
    // On a busy machine, the requests take longer than a second.
    using clock = spyOn(platform, "monotonicMs").mockReturnValue(performance.now());
    for (let attempt = 0; attempt < 3; attempt++) {
      await expectError(await post(gateway, surface, { secret }), surface, "wallet_empty");
    }
    const { ledger } = gateway.tollgate;
    await ledger.topUp({ walletId: key.accountId, topUpId: "later", amount: 1_000_000_000n });
    await expectError(await post(gateway, surface, { secret }), surface, "wallet_empty");
    clock.mockRestore();
    await Bun.sleep(1_050);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
  });

  test("does not affect another key", async () => {
    const { secret } = await gateway.newPayer("0");
    for (let attempt = 0; attempt < 4; attempt++) await post(gateway, surface, { secret });
    expect((await post(gateway, surface)).status).toBe(200);
  });
});
