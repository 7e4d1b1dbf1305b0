import { describe, expect, test } from "bun:test";
import { errorCodeOf, holdOf, WALLET } from "../samples.ts";
import type { OpenLedger } from "./env.ts";

/** Closing a ledger. Each test opens a ledger of its own. */
export function describeClosing(open: OpenLedger): void {
  describe("a closed ledger", () => {
    test("completes accepted commands, takes no more, and may be closed again", async () => {
      const opened = await open();
      const { ledger } = opened;
      await ledger.createWallet(WALLET);
      await ledger.ping();
      const accepted = Array.from({ length: 300 }, (_, i) =>
        ledger.topUp({ walletId: WALLET, topUpId: `t${i}`, amount: 1n }),
      );
      const closed = [ledger.close(), ledger.close()];
      const late = errorCodeOf(ledger.hold(holdOf(1n)));
      const results = await Promise.all(accepted);
      await Promise.all(closed);
      expect(results.filter(({ replayed }) => !replayed)).toHaveLength(300);
      expect(await late).toBe("unavailable");
      expect(await errorCodeOf(ledger.createWallet("later"))).toBe("unavailable");
      await opened.close();
    });
  });
}
