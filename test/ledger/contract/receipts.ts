import { describe, expect, test } from "bun:test";
import type { OutcomeFacts } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { Books } from "./env.ts";

const NOTHING_KNOWN: OutcomeFacts = { outcome: "client_closed", source: "none", attempts: [] };

/** What a receipt keeps of what the ledger was told, character for character. */
export function describeReceipts(books: Books): void {
  describe("a receipt", () => {
    test("keeps everything that was said of a request", async () => {
      const { walletId } = books;
      const metadata = { team: "Zürich", tags: [1, null, { deep: true }], rate: 0.1 };
      await books.hold("h1", 20n, { minimum: 5n, metadata });
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
      } as const;
      expect(await books.receipt("h1")).toEqual(open);
      books.clock.nowMs += 900;
      await books.settle("h1", 12n);
      await books.refund("r1", "h1", 2n);
      expect(await books.receipt("h1")).toEqual({
        ...open,
        state: "settled",
        captured: 12n,
        refunded: 2n,
        resolvedAtMs: NOON_MS + 900,
        outcome: FACTS,
      });
    });

    test("keeps what was not known as not known", async () => {
      await books.hold("h1", 1n);
      await books.release("h1", NOTHING_KNOWN);
      const receipt = await books.receipt("h1");
      expect(receipt).toMatchObject({ state: "released", metadata: undefined });
      expect(receipt?.outcome).toEqual(NOTHING_KNOWN);
    });

    test("tells zero from what is not known", async () => {
      const zeros: OutcomeFacts = {
        ...NOTHING_KNOWN,
        price: { input: 0n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n },
        usage: {
          inputTokens: 0,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
          outputTokens: 0,
        },
        upstream: "",
        upstreamModel: "",
        firstOutputMs: 0,
        totalMs: 0,
        attempts: [{ upstream: "", status: 0, ms: 0 }],
      };
      await books.hold("h1", 1n);
      await books.settle("h1", 0n, zeros);
      expect((await books.receipt("h1"))?.outcome).toEqual(zeros);
    });

    test("lists at most the last eight attempts", async () => {
      await books.hold("h1", 1n);
      const attempts = Array.from({ length: 300 }, (_, ms) => ({ upstream: "up", status: 502, ms }));
      await books.release("h1", { ...NOTHING_KNOWN, attempts });
      const outcome = (await books.receipt("h1"))?.outcome;
      expect(outcome?.attempts.map(({ ms }) => ms)).toEqual([292, 293, 294, 295, 296, 297, 298, 299]);
    });

    test("is not another wallet's", async () => {
      await books.hold("h1", 1n);
      expect(await books.ledger.receipt("wallet-none", holdIdOf("h1"))).toBeUndefined();
    });

    test.each(["reported", "estimated", "expired", "none"] as const)(
      "names the source %s",
      async (source) => {
        await books.hold("h1", 1n);
        await books.settle("h1", 1n, { ...NOTHING_KNOWN, source });
        expect(await books.receipt("h1")).toMatchObject({ outcome: { source } });
      },
    );

    test("rounds times that are no whole milliseconds", async () => {
      await books.hold("h1", 1n);
      await books.settle("h1", 1n, { ...FACTS, firstOutputMs: 39.6, totalMs: 900.2 });
      expect(await books.receipt("h1")).toMatchObject({ outcome: { firstOutputMs: 40, totalMs: 900 } });
    });
  });
}
