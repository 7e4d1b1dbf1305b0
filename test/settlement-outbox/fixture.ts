import { readdirSync } from "node:fs";
import { join } from "node:path";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { OutboxEntry } from "../../src/settlement-outbox/entry.ts";
import {
  type OpenSettlementOutbox,
  openSettlementOutbox,
  type SettlementOutboxOptions,
} from "../../src/settlement-outbox/outbox.ts";
import { FACTS, holdIdOf, holdOf, type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { createUnreliableLedger, type UnreliableLedger } from "../ledger/unreliable-ledger.ts";
import { type CapturedLog, createCapturedLog } from "../support/captured-log.ts";
import { tempFolder } from "../support/temp-folder.ts";

export const FUNDS = 1_000_000n;

/** A SQLite ledger that can be made unavailable, and a data folder for outboxes. */
export interface OutboxFixture {
  readonly storage: OpenLedger;
  readonly ledger: UnreliableLedger;
  readonly folder: string;
  readonly log: CapturedLog;
  /** Opens an outbox that replays every 5 ms and adopts every 10 ms. */
  outbox(options?: Partial<SettlementOutboxOptions>): OpenSettlementOutbox;
  /** Takes a hold and returns the entry that settles it. */
  heldEntry(name: string, amount?: bigint): Promise<OutboxEntry>;
  /** The names in the folder of the outbox files. */
  files(): readonly string[];
  /** Closes every outbox and the ledger. Throws when the audit has findings. */
  close(): Promise<void>;
}

export async function openOutboxFixture(): Promise<OutboxFixture> {
  const storage = await openLedger(FUNDS);
  const ledger = createUnreliableLedger(storage.ledger);
  const folder = tempFolder();
  const log = createCapturedLog();
  const outboxes: OpenSettlementOutbox[] = [];
  return {
    storage,
    ledger,
    folder,
    log,
    outbox(options = {}) {
      const quick = { everyMs: 5, adoptEveryMs: 10, closeMs: 50 };
      const outbox = openSettlementOutbox({
        folder,
        ledger,
        log,
        now: () => storage.clock.nowMs,
        ...quick,
        ...options,
      });
      outboxes.push(outbox);
      return outbox;
    },
    async heldEntry(name, amount = 10n) {
      const holdId = holdIdOf(name);
      await storage.ledger.hold(holdOf(amount, { holdId }));
      return settlementOf(name, amount);
    },
    files: () => readdirSync(join(folder, "journal")).sort(),
    async close() {
      ledger.mode = "here";
      for (const outbox of outboxes) await outbox.close();
      const { findings } = await auditSqlite(storage.database, storage.clock.nowMs);
      await storage.close();
      if (findings.length > 0) throw new Error(`The audit has findings: ${JSON.stringify(findings)}`);
    },
  };
}

export function settlementOf(name: string, amount: bigint): OutboxEntry {
  return { kind: "settle", request: { walletId: WALLET, holdId: holdIdOf(name), amount, facts: FACTS } };
}
