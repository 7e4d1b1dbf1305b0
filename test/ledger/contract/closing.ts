import { describe, expect, test } from "bun:test";
import { holdOf, refusalOf, WALLET } from "../samples.ts";
import type { OpenLedger } from "./env.ts";

/** The end of a ledger. Each test has a ledger of its own, which is gone after it. */
export function describeClosing(open: OpenLedger): void {
  describe("a ledger that is closed", () => {
    test("answers what it had accepted, takes nothing more, and may be closed again", async () => {
      const opened = await open();
      const { ledger } = opened;
      await ledger.createWallet(WALLET);
      await ledger.ping();
      const accepted = Array.from({ length: 300 }, (_, i) =>
        ledger.topUp({ walletId: WALLET, topUpId: `t${i}`, amount: 1n }),
      );
      const closed = [ledger.close(), ledger.close()];
      const refused = refusalOf(ledger.hold(holdOf(1n)));
      const answers = await Promise.all(accepted);
      await Promise.all(closed);
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(300);
      expect(await refused).toBe("unavailable");
      expect(await refusalOf(ledger.createWallet("later"))).toBe("unavailable");
      await opened.close();
    });
  });
}
