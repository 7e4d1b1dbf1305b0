import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";

const BALANCES = { posted: 9_007_199_254_740_993n, held: 5n, available: -2n };
const refuse = () => Promise.reject(new LedgerError("unavailable"));

/** A ledger that grants everything and keeps nothing; a test replaces what it is about. */
export function standInLedger(changes: Partial<Ledger> = {}): Ledger {
  return {
    createWallet: async () => BALANCES,
    setWalletState: async () => undefined,
    hold: async ({ amount }) => ({ granted: amount, balances: BALANCES, replayed: false }),
    extend: async () => undefined,
    settle: async ({ amount }) => ({
      state: "settled",
      captured: amount,
      balances: BALANCES,
      replayed: false,
    }),
    release: async () => ({ state: "released", captured: 0n, balances: BALANCES, replayed: false }),
    topUp: async () => ({ balances: BALANCES, replayed: false }),
    charge: async () => ({ balances: BALANCES, replayed: false, receiptId: "receipt" }),
    refund: async () => ({ balances: BALANCES, replayed: false }),
    setSpendLimit: async () => undefined,
    deleteSpendLimit: async () => undefined,
    balances: async () => BALANCES,
    wallet: async (walletId) => ({ walletId, state: "active", balances: BALANCES, createdAtMs: 1 }),
    wallets: async () => ({ items: [], nextToken: undefined }),
    spendLimits: async () => [],
    receipt: async () => undefined,
    receipts: async () => ({ items: [], nextToken: undefined }),
    transfers: async () => ({ items: [], nextToken: undefined }),
    usage: refuse,
    ping: async () => undefined,
    close: async () => undefined,
    ...changes,
  };
}
