import { readdirSync } from "node:fs";
import { join } from "node:path";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { OutboxEntry } from "../../src/settlement-outbox/entry.ts";
import {
  type OpenSettlementOutbox,
  openSettlementOutbox,
  type SettlementOutboxOptions,
} from "../../src/settlement-outbox/outbox.ts";
import { type FickleLedger, fickle } from "../ledger/fickle-ledger.ts";
import { FACTS, holdIdOf, holdOf, type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { createLogBook, type LogBook } from "../support/log-book.ts";
import { tempFolder } from "../support/temp-folder.ts";

export const FUNDS = 1_000_000n;

/** Real books behind a ledger that can go away, and a data folder for the journals beside it. */
export interface OutboxFixture {
  readonly open: OpenLedger;
  readonly ledger: FickleLedger;
  readonly folder: string;
  readonly log: LogBook;
  /** Opens a journal that looks around often. */
  journal(options?: Partial<SettlementOutboxOptions>): OpenSettlementOutbox;
  /** Takes a hold and gives the entry that settles it. */
  heldFor(name: string, amount?: bigint): Promise<OutboxEntry>;
  /** The files in the folder of the journals. */
  files(): readonly string[];
  /** Closes what is open; throws when the books contradict themselves. */
  close(): Promise<void>;
}

export async function openOutboxFixture(): Promise<OutboxFixture> {
  const open = await openLedger(FUNDS);
  const ledger = fickle(open.ledger);
  const folder = tempFolder();
  const log = createLogBook();
  const journals: OpenSettlementOutbox[] = [];
  return {
    open,
    ledger,
    folder,
    log,
    journal(options = {}) {
      const quick = { everyMs: 5, adoptEveryMs: 10, closeMs: 50 };
      const journal = openSettlementOutbox({
        folder,
        ledger,
        log,
        now: () => open.clock.nowMs,
        ...quick,
        ...options,
      });
      journals.push(journal);
      return journal;
    },
    async heldFor(name, amount = 10n) {
      const holdId = holdIdOf(name);
      await open.ledger.hold(holdOf(amount, { holdId }));
      return settlementOf(name, amount);
    },
    files: () => readdirSync(join(folder, "journal")).sort(),
    async close() {
      ledger.is = "here";
      for (const journal of journals) await journal.close();
      const { findings } = await auditSqlite(open.database, open.clock.nowMs);
      await open.close();
      if (findings.length > 0) throw new Error(`The books are not right: ${JSON.stringify(findings)}`);
    },
  };
}

export function settlementOf(name: string, amount: bigint): OutboxEntry {
  return { kind: "settle", request: { walletId: WALLET, holdId: holdIdOf(name), amount, facts: FACTS } };
}

/** Waits for something that happens by itself; throws after five seconds. */
export async function until(happened: () => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!happened()) {
    if (performance.now() > deadline) throw new Error("It did not happen");
    await Bun.sleep(2);
  }
}
