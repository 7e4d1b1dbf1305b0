import { loadStorageConfig } from "../config/config.ts";
import { readInstance } from "../db/instance.ts";
import { unlessAborted } from "../domain/long-work.ts";
import { type AuditReport, auditDatabase, type Finding } from "../ledger/audit/audit.ts";
import { type FoundOutbox, findOutboxes } from "../settlement-outbox/folder.ts";
import { type CommandResult, count } from "./command.ts";
import { runLongWork } from "./progress.ts";
import type { Storage } from "./storage.ts";

/**
 * Audits the journal. Fails on findings. Expired holds, and settlements in an outbox of this machine, are only
 * warnings, because they resolve by themselves.
 */
export async function runAudit(
  { database }: Storage,
  options: { readonly json?: boolean } = {},
): Promise<CommandResult> {
  const report = await runLongWork(options, ({ step, at, signal }) => {
    let hasBegun = false;
    const onProgress = (done: number, total: number) => {
      if (!hasBegun) step("audit", total, "checks");
      hasBegun = true;
      at(done);
    };
    return unlessAborted(signal, auditDatabase(database, Date.now(), { onProgress }));
  });
  const { id, restoredFrom } = await readInstance(database);
  const isForeign = ({ origin }: FoundOutbox) =>
    origin !== undefined && origin !== id && origin !== restoredFrom;
  const found = findOutboxes(loadStorageConfig().dataFolder);
  return formatAudit(
    report,
    found.map((outbox) => ({ ...outbox, isForeign: isForeign(outbox) })),
  );
}

interface AuditedOutbox extends FoundOutbox {
  /** Whether its settlements belong to another database. */
  readonly isForeign: boolean;
}

function formatAudit(report: AuditReport, outboxes: readonly AuditedOutbox[]): CommandResult {
  const { wallets, holds, transfers, checked, findings, warnings } = report;
  const failed = findings.length > 0;
  const verdict = failed
    ? `${count(findings.length, "finding")} (100 of a kind at most): the books are NOT consistent.`
    : "The books are consistent.";
  const lines = [
    ...checked.map((invariant) => `checked  ${invariant}`),
    ...findings.map((finding) => `FINDING  ${describe(finding)}`),
    ...warnings.map((warning) => `warning  ${describe(warning)}`),
    ...outboxes.map((outbox) => `warning  ${describeOutbox(outbox)}`),
    `${count(wallets, "wallet")}, ${count(holds, "hold")}, ${count(transfers, "transfer")}. ${verdict}`,
  ];
  const json = {
    ok: !failed,
    wallets,
    holds,
    transfers,
    checked,
    findings: findings.map(printFinding),
    warnings: warnings.map(printFinding),
    journals: outboxes.map(({ path, entries, isReadable, isForeign }) => ({
      ...{ path, entries, is_readable: isReadable, is_foreign: isForeign },
    })),
  };
  return { json, text: lines.join("\n"), failed };
}

function printFinding({ invariant, claim, walletId, subject }: Finding) {
  return { invariant, says: claim, account_id: walletId, subject: subject ?? null };
}

function describe({ invariant, claim, walletId, subject }: Finding): string {
  return `${invariant} does not hold: ${claim} (account ${walletId}${subject === undefined ? "" : `, ${subject}`})`;
}

function describeOutbox({ path, entries, isReadable, isForeign }: AuditedOutbox): string {
  if (!isReadable) return `outbox ${path}: it is damaged or of a later version, and may contain settlements`;
  if (isForeign)
    return `outbox ${path}: ${entries} settlements belong to another database, and are left alone`;
  const what = entries === 1 ? "1 settlement waits" : `${entries} settlements wait`;
  return `outbox ${path}: ${what} for the ledger, or ${entries === 1 ? "was" : "were"} rejected by it`;
}
