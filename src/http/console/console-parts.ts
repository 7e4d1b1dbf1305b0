import type { ForgetEndUser } from "../../accounts/attribution/forget.ts";
import type { Actor } from "../../accounts/audit-trail.ts";
import type { ProviderSignInParts } from "../../accounts/oidc/admission.ts";
import type { PasskeyParts } from "../../accounts/passkeys/passkeys.ts";
import type { CredentialParts } from "../../accounts/people/credentials.ts";
import type { SignUpParts } from "../../accounts/people/sign-up.ts";
import type { Throttle } from "../../accounts/people/throttle.ts";
import type { Database } from "../../db/database.ts";
import type { MasterKey } from "../../db/sealing.ts";
import type { Mails } from "../../delivery/mail/mails.ts";
import type { MailServerState } from "../../delivery/mail/server-watch.ts";
import type { Company } from "../../domain/company.ts";
import type { Plan } from "../../domain/plan.ts";
import type { SignInRules } from "../../domain/sign-in-rules.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { AuditReport } from "../../ledger/audit/audit.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { PaymentRules } from "../../payments/reversals.ts";
import type { PaymentCaller } from "../../payments/signed-days.ts";
import type { ProviderPage } from "../../setup/provider-page.ts";
import type { BackgroundState } from "../../telemetry/background-metrics.ts";
import type { Log } from "../../telemetry/log.ts";
import type { SignInMetrics } from "../../telemetry/metrics.ts";
import type { RunningRequests } from "../http-parts.ts";
import type { GuardParts } from "./guard.ts";

/** The settings of the console, from the environment and the configuration file. */
export interface ConsoleSettings {
  /** Origin of the console, without a slash at its end: "https://tollgate.example.com". */
  readonly publicUrl: string;
  /** Follows the configuration file. */
  readonly signUp: "open" | "invited" | "closed";
  /** How people may sign in; follows the configuration file. Default: by passwords alone. */
  readonly signIn?: SignInRules | undefined;
  /** Days of a refund to a credit that has ended; follows the configuration file. Default: the ledger's 7. */
  readonly refundCreditDays?: number | undefined;
  /** The plans that accounts may be subscribed to. Follows the configuration file. Default: none. */
  readonly plans?: readonly Plan[] | undefined;
  /** Who operates this gateway, as statements name it. Follows the configuration file. */
  readonly company?: Company | undefined;
  /** Whether the demo's model is the only one. */
  readonly isDemoOnly: boolean;
  /** Addresses, and networks such as "10.0.0.0/8", whose `x-forwarded-for` names the caller. */
  readonly trustedProxies: readonly string[];
  /** `undefined` when mails are printed on stderr. */
  readonly mail?: { readonly url: string; readonly from: string } | undefined;
  /** `undefined` when payments are refused. `apiBase` replaces Stripe's own origin. */
  readonly stripe?:
    | { readonly secretKey: string; readonly webhookSecret: string; readonly apiBase?: string | undefined }
    | undefined;
  /** Follows the configuration file. */
  readonly payments: PaymentRules;
  /** Who may top up wallets by signed calls. Follows the configuration file. Default: no one. */
  readonly paymentCallers?: readonly PaymentCaller[] | undefined;
  /** For tests: webhooks may be sent to this machine, without TLS. Default: false. */
  readonly allowsLoopbackWebhooks?: boolean | undefined;
}

/** The dependencies of the console's routes. */
export interface ConsoleParts {
  readonly database: Database;
  readonly ledger: Ledger;
  /** Returns the gateway under the latest configuration. */
  gateway(): Gateway;
  /** Counts requests of the playground, for which a shutdown waits. */
  readonly running: RunningRequests;
  readonly settings: ConsoleSettings;
  readonly mails: Mails;
  /** Called when a webhook of a notice is ordered. */
  wakeWebhooks(): void;
  /** Finds the sender of a request by its session or management key; `undefined` without a valid one. */
  identify(request: Request, address: string | undefined): Promise<Actor | undefined>;
  /** Returns the caller's address: that of the connection, or the one that a trusted proxy reports. */
  addressOf(request: Request, peer: string | undefined): string | undefined;
  /** Bounds attempts to guess a password, a code or a token of a link. */
  readonly throttle: Throttle;
  readonly credentials: CredentialParts;
  readonly signIns: SignInMetrics;
  readonly signUps: SignUpParts;
  readonly providerSignIns: ProviderSignInParts;
  readonly passkeys: PasskeyParts;
  /** Answers paths outside of the API: the console's page and its assets. */
  pages(request: Request): Promise<Response>;
  /** Aborted when the process begins to stop: endless streams then end, because the stop waits for them. */
  readonly stopping: AbortSignal;
  /** The keys that encrypt the bodies of requests, the first one new ones. Without any, none is kept. */
  recordingKeys(): readonly MasterKey[];
  /** What only operators see and do. */
  readonly platform: Platform;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** What the guard of routes takes, and the parts that they name. */
export type PartsOf<Names extends keyof ConsoleParts> = Pick<ConsoleParts, keyof GuardParts | Names>;

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
  /**
   * Replaces the name of an end user by a pseudonym, on receipts and in counters. `undefined` when another process
   * runs the ledger: its database is not here.
   */
  readonly forgetEndUser: ForgetEndUser | undefined;
  /** Adds providers to the files of this gateway. Default: it does not know them. */
  readonly providers?: ProviderPage | undefined;
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
