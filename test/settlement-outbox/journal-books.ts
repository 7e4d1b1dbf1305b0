import { readdirSync } from "node:fs";
import { join } from "node:path";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { JournalEntry } from "../../src/settlement-outbox/entry.ts";
import { type JournalOptions, type OpenJournal, openJournal } from "../../src/settlement-outbox/outbox.ts";
import { type FickleLedger, fickle } from "../ledger/fickle-ledger.ts";
import { FACTS, holdIdOf, holdOf, type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { type CapturedLog, createCapturedLog } from "../support/captured-log.ts";
import { tempFolder } from "../support/temp-folder.ts";

export const FUNDS = 1_000_000n;

/** Real books behind a ledger that can go away, and a data folder for the journals beside it. */
export interface JournalBooks {
  readonly open: OpenLedger;
  readonly ledger: FickleLedger;
  readonly folder: string;
  readonly log: CapturedLog;
  /** Opens a journal that looks around often. */
  journal(options?: Partial<JournalOptions>): OpenJournal;
  /** Takes a hold and gives the entry that settles it. */
  heldFor(name: string, amount?: bigint): Promise<JournalEntry>;
  /** The files in the folder of the journals. */
  files(): readonly string[];
  /** Closes what is open; throws when the books contradict themselves. */
  close(): Promise<void>;
}

export async function openJournalBooks(): Promise<JournalBooks> {
  const open = await openLedger(FUNDS);
  const ledger = fickle(open.ledger);
  const folder = tempFolder();
  const log = createCapturedLog();
  const journals: OpenJournal[] = [];
  return {
    open,
    ledger,
    folder,
    log,
    journal(options = {}) {
      const quick = { everyMs: 5, adoptEveryMs: 10, closeMs: 50 };
      const journal = openJournal({ folder, ledger, log, now: () => open.clock.nowMs, ...quick, ...options });
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

export function settlementOf(name: string, amount: bigint): JournalEntry {
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
