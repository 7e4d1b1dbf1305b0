import { loadBooksConfig } from "../config/config.ts";
import { type AuditReport, auditDatabase, type Finding } from "../ledger/audit/audit.ts";
import { type FoundOutbox, findOutboxes } from "../settlement-outbox/folder.ts";
import type { Books } from "./books.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Fails when the books contradict themselves. What will mend itself is only a warning: holds past their
 * time, and settlements that a journal of this machine has not given to the ledger yet.
 */
export async function runAudit({ database }: Books): Promise<Outcome> {
  const report = await auditDatabase(database, Date.now());
  return printAudit(report, findOutboxes(loadBooksConfig().dataFolder));
}

/** What an audit came to, for people and for programs. */
export function printAudit(report: AuditReport, journals: readonly FoundOutbox[]): Outcome {
  const { wallets, holds, transfers, checked, findings, warnings } = report;
  const failed = findings.length > 0;
  const verdict = failed
    ? `${findings.length} findings (100 of a kind at most): the books are NOT right.`
    : "The books are right.";
  const lines = [
    ...checked.map((invariant) => `checked  ${invariant}`),
    ...findings.map((finding) => `FINDING  ${describe(finding)}`),
    ...warnings.map((warning) => `warning  ${describe(warning)}`),
    ...journals.map((journal) => `warning  ${describeJournal(journal)}`),
    `${wallets} wallets, ${holds} holds, ${transfers} transfers. ${verdict}`,
  ];
  const json = {
    ok: !failed,
    wallets,
    holds,
    transfers,
    checked,
    findings: findings.map(print),
    warnings: warnings.map(print),
    journals: journals.map(({ path, entries, isReadable }) => ({ path, entries, is_readable: isReadable })),
  };
  return { json, text: lines.join("\n"), failed };
}

function print({ invariant, says, walletId, subject }: Finding) {
  return { invariant, says, account_id: walletId, subject: subject ?? null };
}

function describe({ invariant, says, walletId, subject }: Finding): string {
  return `${invariant} does not hold: ${says} (account ${walletId}${subject === undefined ? "" : `, ${subject}`})`;
}

function describeJournal({ path, entries, isReadable }: FoundOutbox): string {
  if (!isReadable) return `journal ${path}: it is damaged or of a later version, and may hold settlements`;
  const what = entries === 1 ? "1 settlement waits" : `${entries} settlements wait`;
  return `journal ${path}: ${what} for the ledger, or ${entries === 1 ? "was" : "were"} refused by it`;
}
