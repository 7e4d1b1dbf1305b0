import type { AuditReport } from "../../ledger/audit/audit.ts";
import type { MailServerState } from "../../mail/server-watch.ts";
import type { BackgroundState } from "../../telemetry/background-metrics.ts";

/** The state of this gateway's process, and the audit of its ledger. */
export interface Platform {
  /** Settlements that the ledger has not taken. */
  readonly outbox: { pending(): number; oldestAtMs(): number | undefined };
  /** The outboxes and the roll-ups. A part that cannot be read within a second is `undefined`. */
  background(): Promise<BackgroundState>;
  /** `undefined` when mails are printed on stderr. */
  mailServer(): MailServerState | undefined;
  /** `undefined` when another process runs the ledger: its database is not here. */
  readonly audit: AuditJob | undefined;
}

/** The audit of the ledger in the background, one at a time on a database. */
export interface AuditJob {
  /** Returns whether it started an audit: `false` while one runs. */
  start(): Promise<boolean>;
  isRunning(): Promise<boolean>;
  /** The last result of any gateway on this database. */
  last(): Promise<AuditResult | undefined>;
  /** Stops a running audit, which then has no result. */
  close(): Promise<void>;
}

export interface AuditResult {
  readonly ranAtMs: number;
  readonly durationMs: number;
  readonly report: AuditReport;
}
