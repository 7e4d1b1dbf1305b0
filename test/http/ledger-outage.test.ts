import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { CHAT, post, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate, resetAtOnce, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";

const gateway = gatewayForTests();

/** Makes the ledger unavailable: another connection holds the write lock of its database. */
function makeLedgerUnavailable(): { restore(): Promise<void> } {
  const client = new Database(gateway.sqlite.path);
  client.run("PRAGMA busy_timeout = 60000");
  client.run("BEGIN IMMEDIATE");
  return {
    async restore() {
      client.run("ROLLBACK");
      client.close();
      await untilOutboxHas((count) => count === 0);
    },
  };
}

async function untilOutboxHas(isEnough: (count: number) => boolean): Promise<void> {
  const explain = () => `The outbox still has ${countOutboxEntries()} entries`;
  await until(() => isEnough(countOutboxEntries()), explain);
}

function countOutboxEntries(): number {
  return findOutboxes(dirname(gateway.sqlite.path)).reduce((sum, { entries }) => sum + entries, 0);
}

/** 11 input tokens and 7 output tokens. */
const COST = 25_000n;

/** Sets scripts that wait until the ledger is unavailable. */
function scriptAll(opened: Promise<void>, script: (how: { gate: Promise<unknown> }) => Script): void {
  for (const { model } of SURFACES) gateway.upstream.on(model, script({ gate: opened }));
}

describe("a ledger that becomes unavailable while requests run", () => {
  test("does not change their answers, and has all settlements after it returns", async () => {
    const before = await gateway.balances();
    const { opened, open } = gate();
    scriptAll(opened, (how) => answerWith(undefined, how));
    const pending = SURFACES.flatMap((surface) =>
      [false, true].map((stream) => ({ stream, response: post(gateway, surface, { stream }) })),
    );
    await gateway.upstream.waitForSeen(4);
    const { restore } = makeLedgerUnavailable();
    open();

    const ids: string[] = [];
    for (const { stream, response } of pending) {
      const got = await response;
      expect(got.status).toBe(200);
      ids.push(got.headers.get("x-request-id") ?? "");
      const text = await got.text();
      if (stream) expect(text).toMatch(/\[DONE\]|message_stop/);
      else {
        expect(got.headers.get("x-tollgate-cost-usd")).toBe("0.000025");
        expect(got.headers.has("x-tollgate-balance-usd")).toBe(false);
      }
    }
    expect(countOutboxEntries()).toBe(4);
    expect((await gateway.balances()).posted).toBe(before.posted);

    await restore();
    for (const id of ids) {
      expect(await gateway.receiptOf(id)).toMatchObject({
        state: "settled",
        late: false,
        captured: COST,
        outcome: { outcome: "ok", source: "reported", usage: { inputTokens: 11, outputTokens: 7 } },
      });
    }
    expect(await gateway.balances()).toMatchObject({ posted: before.posted - 4n * COST, held: 0n });
    expect(gateway.log.text().match(/"journaled":true/g)).toHaveLength(4);
    expect(gateway.log.text()).not.toContain('"level":"error"');
  });

  test("does not change their errors, and releases their holds after it returns", async () => {
    const before = await gateway.balances();
    const { opened, open } = gate();
    gateway.upstream.on("chat", (request) => {
      const script = request.stream ? resetAtOnce : answer({ status: 400, body: "{}" });
      return (async function* () {
        yield { until: opened };
        yield* script(request);
      })();
    });
    const pending = [false, true].map((stream) => post(gateway, CHAT, { stream }));
    await gateway.upstream.waitForSeen(2);
    const { restore } = makeLedgerUnavailable();
    open();
    const [whole, streamed] = await Promise.all(pending);
    if (!whole || !streamed) throw new Error("two requests were sent");
    await expectError(whole, CHAT, "rejected_by_upstream");
    await expectError(streamed, CHAT, "upstream_unavailable");
    expect(countOutboxEntries()).toBe(2);
    await restore();
    expect(await gateway.receiptOf(whole)).toMatchObject({ state: "released", captured: 0n });
    expect(await gateway.balances()).toEqual(before);
  });

  test("rejects new requests, and keeps no hold for them", async () => {
    const before = await gateway.balances();
    const { restore } = makeLedgerUnavailable();
    const refused = await Promise.all(SURFACES.map((surface) => post(gateway, surface)));
    for (const [index, surface] of SURFACES.entries()) {
      const response = refused[index];
      if (response) await expectError(response, surface, "internal");
    }
    expect(gateway.upstream.seen).toBeEmpty();
    // Whether the holds were placed is unknown, so that the outbox will release them.
    await untilOutboxHas((count) => count === SURFACES.length);
    await restore();
    expect(await gateway.balances()).toEqual(before);
    expect((await post(gateway, CHAT)).status).toBe(200);
  });
});
