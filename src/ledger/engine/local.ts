import { type ExportBacklog, readExportBacklogs } from "../exports/backlog.ts";
import { type Ledger, LedgerError } from "../ledger.ts";
import type { LedgerReads } from "../records.ts";
import { rollUpOnce } from "../roll-ups/job.ts";
import type { RollUpStore } from "../roll-ups/store.ts";
import { type BatchOptions, createBatcher } from "./batcher.ts";
import type { Store } from "./store.ts";
import { sweepOnce } from "./sweeper.ts";

/** A ledger in this process. It can also expire holds that are past their time, and sum up usage. */
export interface LocalLedger extends Ledger {
  /** Expires at most 500 holds that are past their time. Returns how many were due. */
  sweep(): Promise<number>;
  /** Takes one step of the roll-ups of usage. Returns whether there may be more to do. */
  rollUp(): Promise<boolean>;
  /** Reads what each export of usage has not taken yet. */
  exportBacklogs(): Promise<readonly ExportBacklog[]>;
}

export interface LocalLedgerParts {
  readonly store: Store;
  readonly reads: LedgerReads;
  readonly rollUps: RollUpStore;
  readonly now: () => number;
  readonly options: BatchOptions;
  /** Closes the connections. Called when every command is completed. */
  close(): void | Promise<void>;
}

/** Creates a ledger over a store of either database. */
export function createLocalLedger(parts: LocalLedgerParts): LocalLedger {
  const { store, reads, rollUps, now, options, close } = parts;
  const batcher = createBatcher(store, { now, ...options });
  const { submit } = batcher;
  let closing: Promise<void> | undefined;
  return {
    ...reads,
    createWallet: (walletId) => submit("create_wallet", { walletId }),
    setWalletState: (request) => submit("set_wallet_state", request),
    hold: (request, holdOptions) => submit("hold", request, holdOptions),
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
      } catch (cause) {
        throw new LedgerError("unavailable", cause);
      }
    },
    sweep: () => sweepOnce(store, submit),
    rollUp: () => rollUpOnce(rollUps),
    exportBacklogs: () => readExportBacklogs(rollUps.run, rollUps.dialect),
    close() {
      closing ??= batcher.close().then(close);
      return closing;
    },
  };
}
