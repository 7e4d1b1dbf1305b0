import { loadStorageConfig } from "../config/config.ts";
import { type AuditReport, auditDatabase, type Finding } from "../ledger/audit/audit.ts";
import { type FoundOutbox, findOutboxes } from "../settlement-outbox/folder.ts";
import type { CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

/**
 * Audits the journal. Fails on findings. Expired holds, and settlements in an outbox of this machine, are only
 * warnings, because they resolve by themselves.
 */
export async function runAudit({ database }: Storage): Promise<CommandResult> {
  const report = await auditDatabase(database, Date.now());
  return formatAudit(report, findOutboxes(loadStorageConfig().dataFolder));
}

function formatAudit(report: AuditReport, outboxes: readonly FoundOutbox[]): CommandResult {
  const { wallets, holds, transfers, checked, findings, warnings } = report;
  const failed = findings.length > 0;
  const verdict = failed
    ? `${findings.length} findings (100 of a kind at most): the books are NOT consistent.`
    : "The books are consistent.";
  const lines = [
    ...checked.map((invariant) => `checked  ${invariant}`),
    ...findings.map((finding) => `FINDING  ${describe(finding)}`),
    ...warnings.map((warning) => `warning  ${describe(warning)}`),
    ...outboxes.map((outbox) => `warning  ${describeOutbox(outbox)}`),
    `${wallets} wallets, ${holds} holds, ${transfers} transfers. ${verdict}`,
  ];
  const json = {
    ok: !failed,
    wallets,
    holds,
    transfers,
    checked,
    findings: findings.map(printFinding),
    warnings: warnings.map(printFinding),
    journals: outboxes.map(({ path, entries, isReadable }) => ({ path, entries, is_readable: isReadable })),
  };
  return { json, text: lines.join("\n"), failed };
}

function printFinding({ invariant, claim, walletId, subject }: Finding) {
  return { invariant, says: claim, account_id: walletId, subject: subject ?? null };
}

function describe({ invariant, claim, walletId, subject }: Finding): string {
  return `${invariant} does not hold: ${claim} (account ${walletId}${subject === undefined ? "" : `, ${subject}`})`;
}

function describeOutbox({ path, entries, isReadable }: FoundOutbox): string {
  if (!isReadable) return `outbox ${path}: it is damaged or of a later version, and may contain settlements`;
  const what = entries === 1 ? "1 settlement waits" : `${entries} settlements wait`;
  return `outbox ${path}: ${what} for the ledger, or ${entries === 1 ? "was" : "were"} rejected by it`;
}
