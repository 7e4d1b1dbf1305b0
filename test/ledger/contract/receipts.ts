import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const NOTHING_KNOWN: OutcomeFacts = { outcome: "client_closed", source: "none", attempts: [] };

/** Receipts: every fact of the request and its outcome is stored unchanged. */
export function describeReceipts(env: LedgerEnv): void {
  describe("a receipt", () => {
    test("has every fact of a request", async () => {
      const { walletId } = env;
      const metadata = { team: "Zürich", tags: [1, null, { deep: true }], rate: 0.1 };
      await env.hold("h1", 20n, { minimum: 5n, metadata });
      const holdId = holdIdOf("h1");
      const open = {
        holdId,
        walletId,
        keyId: "k1",
        state: "held",
        late: false,
        granted: 20n,
        captured: 0n,
        refunded: 0n,
        createdAtMs: NOON_MS,
        resolvedAtMs: undefined,
        request: { surface: "chat", model: "demo" },
        outcome: undefined,
        metadata,
        scopes: [],
      } as const;
      expect(await env.receipt("h1")).toEqual(open);
      env.clock.nowMs += 900;
      await env.settle("h1", 12n);
      await env.refund("r1", "h1", 2n);
      expect(await env.receipt("h1")).toEqual({
        ...open,
        state: "settled",
        captured: 12n,
        refunded: 2n,
        resolvedAtMs: NOON_MS + 900,
        outcome: FACTS,
      });
    });

    test("keeps absent facts absent", async () => {
      await env.hold("h1", 1n);
      await env.release("h1", NOTHING_KNOWN);
      const receipt = await env.receipt("h1");
      expect(receipt).toMatchObject({ state: "released", metadata: undefined });
      expect(receipt?.outcome).toEqual(NOTHING_KNOWN);
    });

    test("distinguishes 0 from absent", async () => {
      const zeros: OutcomeFacts = {
        ...NOTHING_KNOWN,
        price: { input: 0n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n },
        usage: NO_USAGE,
        upstream: "",
        upstreamModel: "",
        firstOutputMs: 0,
        totalMs: 0,
        attempts: [{ upstream: "", status: 0, ms: 0 }],
      };
      await env.hold("h1", 1n);
      await env.settle("h1", 0n, zeros);
      expect((await env.receipt("h1"))?.outcome).toEqual(zeros);
    });

    test("has at most the last eight attempts", async () => {
      await env.hold("h1", 1n);
      const attempts = Array.from({ length: 300 }, (_, ms) => ({ upstream: "up", status: 502, ms }));
      await env.release("h1", { ...NOTHING_KNOWN, attempts });
      const outcome = (await env.receipt("h1"))?.outcome;
      expect(outcome?.attempts.map(({ ms }) => ms)).toEqual([292, 293, 294, 295, 296, 297, 298, 299]);
    });

    test("belongs to one wallet only", async () => {
      await env.hold("h1", 1n);
      expect(await env.ledger.receipt("wallet-none", holdIdOf("h1"))).toBeUndefined();
    });

    test.each(["reported", "estimated", "expired", "none"] as const)("has the source %s", async (source) => {
      await env.hold("h1", 1n);
      await env.settle("h1", 1n, { ...NOTHING_KNOWN, source });
      expect(await env.receipt("h1")).toMatchObject({ outcome: { source } });
    });

    test("rounds durations to whole milliseconds", async () => {
      await env.hold("h1", 1n);
      await env.settle("h1", 1n, { ...FACTS, firstOutputMs: 39.6, totalMs: 900.2 });
      expect(await env.receipt("h1")).toMatchObject({ outcome: { firstOutputMs: 40, totalMs: 900 } });
    });
  });
}
