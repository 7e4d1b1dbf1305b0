import { type Ledger, LedgerError, type LedgerReads } from "../ledger.ts";
import { type BatchOptions, createBatcher } from "./batcher.ts";
import type { Store } from "./store.ts";
import { expireDue } from "./sweeper.ts";

/** A ledger that can end the holds nobody ends. */
export interface SweptLedger extends Ledger {
  /** Expires the holds whose time is up, at most 500; returns how many were due. */
  sweep(): Promise<number>;
}

export interface LocalParts {
  readonly store: Store;
  readonly reads: LedgerReads;
  readonly now: () => number;
  readonly options: BatchOptions;
  /** Closes the connections, when every command is answered. */
  close(): void | Promise<void>;
}

/** A ledger in this process, over whichever store keeps its books. */
export function createLocalLedger({ store, reads, now, options, close }: LocalParts): SweptLedger {
  const batcher = createBatcher(store, { now, ...options });
  const { submit } = batcher;
  let closing: Promise<void> | undefined;
  return {
    ...reads,
    createWallet: (walletId) => submit("create_wallet", { walletId }),
    setWalletState: (request) => submit("set_wallet_state", request),
    hold: (request, limits) => submit("hold", request, limits),
    extend: (request) => submit("extend", request),
    settle: (request) => submit("settle", request),
    release: (request) => submit("release", request),
    topUp: (request) => submit("top_up", request),
    charge: (request) => submit("charge", { ...request, receiptId: Bun.randomUUIDv7("hex", now()) }),
    refund: (request) => submit("refund", request),
    setSpendLimit: (limit) => submit("set_spend_limit", limit),
    deleteSpendLimit: (request) => submit("delete_spend_limit", request),
    async ping() {
      try {
        await store.ping();
      } catch (reason) {
        throw new LedgerError("unavailable", reason);
      }
    },
    sweep: () => expireDue(store, submit),
    close() {
      closing ??= batcher.close().then(close);
      return closing;
    },
  };
}
