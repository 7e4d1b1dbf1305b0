import { expect, test } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import { CHAT, post } from "../support/client.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const GATEWAYS = 4;
const REQUESTS = 300;

test("a run of 300 requests over four gateways has one limit, the first one, and never spends more", async () => {
  const { url, drop } = await createTestDatabase();
  const database = { dialect: "postgres", url } as const;
  const first = await startTestGateway({ database });
  const others = await Promise.all(
    Array.from({ length: GATEWAYS - 1 }, () => startTestGateway({ database })),
  );
  const gateways = [first, ...others];
  try {
    const { secret, key } = await first.newPayer("100");
    const ask = async (index: number) => {
      const gateway = gateways[index % GATEWAYS] ?? first;
      // Each request asks for another limit: that of the request that came first holds.
      const headers = { "x-tollgate-run": `swarm; max=0.0${5 + (index % 5)}` };
      const answer = await post(gateway, CHAT, { secret, max_tokens: 1_000, headers });
      await answer.text();
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, index) => ask(index)));
    const [limit, ...further] = await first.tollgate.ledger.spendLimits(key.accountId);
    expect([limit?.limitId, limit?.held, further]).toEqual([
      expect.stringContaining(`run:${key.id}:swarm:`),
      0n,
      [],
    ]);
    expect(limit?.used).toBeLessThanOrEqual(limit?.amount ?? 0n);
    const { posted } = await first.balances(key.accountId);
    expect(parseUsd("100") - posted).toBe(limit?.used ?? -1n);
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect([...counts.keys()].toSorted()).toEqual([200, 402]);
    for (const { headers } of counts.get(402) ?? [])
      expect(headers.get("x-tollgate-limit")).toBe("run swarm");
  } finally {
    // The audit of each finds its ledger consistent.
    for (const gateway of gateways) await gateway.stop();
    await drop();
  }
});
