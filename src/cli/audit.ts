import { auditSqlite, type Finding } from "../ledger/audit.ts";
import type { Books } from "./books.ts";
import type { Outcome } from "./outcome.ts";

/** Fails when the books contradict themselves; what will mend itself is only a warning. */
export async function runAudit({ database }: Books): Promise<Outcome> {
  const report = auditSqlite(database, Date.now());
  const { wallets, holds, transfers, checked, findings, warnings } = report;
  const failed = findings.length > 0;
  const verdict = failed ? `${findings.length} findings: the books are NOT right.` : "The books are right.";
  const lines = [
    ...checked.map((invariant) => `checked  ${invariant}`),
    ...findings.map((finding) => `FINDING  ${describe(finding)}`),
    ...warnings.map((warning) => `warning  ${describe(warning)}`),
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
  };
  return { json, text: lines.join("\n"), failed };
}

function print({ invariant, says, walletId, subject }: Finding) {
  return { invariant, says, account_id: walletId, subject: subject ?? null };
}

function describe({ invariant, says, walletId, subject }: Finding): string {
  return `${invariant}: ${says} (account ${walletId}${subject === undefined ? "" : `, ${subject}`})`;
}
