import { platform } from "../../platform.ts";
import { DUE_MAX } from "../background-jobs.ts";
import type { SeenSpend } from "../core/command.ts";
import { type ExportBacklog, keepReceiptsFrom, readExportBacklogs } from "../exports/cursor.ts";
import { type Ledger, LedgerError, type SetSpendLimitRequest } from "../ledger.ts";
import { readSeenSpend } from "../queries/period-spend.ts";
import type { LedgerReads } from "../records.ts";
import {
  type RetentionPolicy,
  type RetentionStep,
  type RetentionStore,
  retainOnce,
} from "../retention/job.ts";
import { rollUpOnce } from "../roll-ups/job.ts";
import type { RollUpStore } from "../roll-ups/store.ts";
import { type Batcher, type BatchOptions, createBatcher } from "./batcher.ts";
import type { Store } from "./store.ts";

/** A ledger in this process, with its background jobs: it expires holds, sums up usage and drops old receipts. */
export interface LocalLedger extends Ledger {
  /** Expires at most 500 holds that are past their time, and credits of 500 wallets. Returns the larger number. */
  sweep(): Promise<number>;
  /** Takes one step of the roll-ups of usage. Returns whether there may be more to do. */
  rollUp(signal?: AbortSignal): Promise<boolean>;
  /** Reads what each export of usage has not taken yet. */
  exportBacklogs(): Promise<readonly ExportBacklog[]>;
  /** Takes one step of the retention of receipts. */
  retain(policy: RetentionPolicy): Promise<RetentionStep>;
}

export interface LocalLedgerParts {
  readonly store: Store;
  readonly reads: LedgerReads;
  readonly rollUps: RollUpStore;
  readonly retention: RetentionStore;
  readonly now: () => number;
  readonly options: BatchOptions;
  /** Closes the connections. Called when every command is completed. */
  close(): void | Promise<void>;
}

/** Creates a ledger over a store of either database. */
export function createLocalLedger(parts: LocalLedgerParts): LocalLedger {
  const { store, reads, rollUps, retention, now, options, close } = parts;
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
    charge: (request) => submit("charge", { ...request, receiptId: platform.uuidV7(now()) }),
    refund: (request) => submit("refund", request),
    async setSpendLimit(limit) {
      // At once, so that it comes before later commands.
      let result = await submit("set_spend_limit", limit);
      for (let tries = 1; result === "unread" && tries <= TRIES_MAX; tries++) {
        result = await submit("set_spend_limit", { ...limit, seen: await readSeen(rollUps, limit, now()) });
      }
      if (result === "unread") throw new LedgerError("unavailable");
    },
    deleteSpendLimit: (request) => submit("delete_spend_limit", request),
    async ping() {
      try {
        await store.ping();
      } catch (cause) {
        throw new LedgerError("unavailable", cause);
      }
    },
    sweep: () => sweepOnce(store, submit),
    rollUp: (signal) => rollUpOnce(rollUps, { signal }),
    exportBacklogs: () => readExportBacklogs(rollUps.run, rollUps.dialect),
    // An export that lags keeps the receipts that it has not taken.
    retain: (policy) =>
      retainOnce(retention, { keepFromMs: () => keepReceiptsFrom(rollUps.run, rollUps.dialect), ...policy }),
    close() {
      closing ??= batcher.close().then(retention.close).then(close);
      return closing;
    },
  };
}

/** A period may end between the sum and the command. */
const TRIES_MAX = 3;

/** Sums up what a limit to be set counts of the time before, which would keep its wallet locked for long. */
async function readSeen(
  { run, dialect }: Pick<RollUpStore, "run" | "dialect">,
  limit: SetSpendLimitRequest,
  nowMs: number,
): Promise<SeenSpend | undefined> {
  const read = readSeenSpend(dialect, limit, nowMs);
  let step = read.next();
  while (!step.done) step = read.next(await run(step.value));
  return step.value;
}

/** The commands go through the queue and are decided under the lock, so several sweepers may run at once. */
async function sweepOnce(store: Store, submit: Batcher["submit"]): Promise<number> {
  const due = await store.findDue(DUE_MAX);
  await Promise.all(due.map((request) => submit("expire", request)));
  const wallets = await store.findDueCredits(DUE_MAX);
  await Promise.all(wallets.map((walletId) => submit("expire_credits", { walletId })));
  return Math.max(due.length, wallets.length);
}
