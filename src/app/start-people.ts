import { sweepRuns } from "../accounts/attribution/ended-runs.ts";
import { createTagValueSweep } from "../accounts/attribution/tag-values.ts";
import { sweepAnswers } from "../accounts/idempotency.ts";
import { sweepChildLimits, sweepEndedChildren } from "../accounts/keys/child-limits.ts";
import type { ProviderSignInParts } from "../accounts/oidc/admission.ts";
import { createProviders } from "../accounts/oidc/providers.ts";
import { endUnusedRights } from "../accounts/oidc/unused-rights.ts";
import type { PasskeyParts } from "../accounts/passkeys/passkeys.ts";
import type { CredentialParts, MailOrders } from "../accounts/people/credentials.ts";
import { createIdentify, type Identify } from "../accounts/people/identify.ts";
import { createPasswords } from "../accounts/people/passwords.ts";
import { sweepSessions } from "../accounts/people/sessions.ts";
import { createSignIn } from "../accounts/people/sign-in.ts";
import type { SignUpParts } from "../accounts/people/sign-up.ts";
import { createThrottle, type Throttle } from "../accounts/people/throttle.ts";
import { sealSharedSecrets } from "../accounts/shared-secret.ts";
import { freezeSuspended, type SuspensionParts } from "../accounts/suspension.ts";
import type { Database } from "../db/database.ts";
import { HOUR_MS } from "../domain/id-time.ts";
import { NO_SIGN_IN_RULES } from "../domain/sign-in-rules.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ConsoleSettings } from "../http/console/console-parts.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { repeat } from "../platform.ts";
import { type RecordingBounds, sweepRecordings } from "../recordings/store.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { RecordingMetrics } from "../telemetry/recording-metrics.ts";

interface PeopleFoundation {
  readonly database: Database;
  readonly ledger: Ledger;
  gateway(): Gateway;
  readonly settings: ConsoleSettings;
  readonly mails: MailOrders;
  readonly log: Log;
  readonly now: () => number;
}

/** How often expired sessions are deleted. Expired ones are refused at once; this only saves space. */
const SESSION_SWEEP_MS = 10 * 60_000;

interface People {
  readonly identify: Identify;
  readonly throttle: Throttle;
  readonly credentials: CredentialParts;
  readonly signUps: SignUpParts;
  readonly providerSignIns: ProviderSignInParts;
  readonly passkeys: PasskeyParts;
}

/** Creates what the console needs of people. Loads nothing heavy: the sign-in library comes with the first use. */
export function createPeople(foundation: PeopleFoundation): People {
  const { database, ledger, gateway, settings, mails, log, now } = foundation;
  const passwords = createPasswords();
  const throttle = createThrottle(() => gateway().limiter);
  const publicUrl = () => settings.publicUrl;
  const signIn = createSignIn({ database, passwords, publicUrl, now });
  const onFault = (error: unknown) => log.error(describeFault(error), "use of session not recorded");
  const rules = () => settings.signIn ?? NO_SIGN_IN_RULES;
  const policy = () => settings.signUp;
  const shared = { database, ledger, throttle, mails, policy, rules, now };
  return {
    identify: createIdentify({ database, publicUrl, now, rules, onFault }),
    throttle,
    credentials: { database, signIn, throttle, mails, rules, now },
    signUps: { ...shared, passwords, signIn },
    passkeys: { database, throttle, rules, publicUrl, now },
    providerSignIns: { ...shared, providers: createProviders(now), publicUrl },
  };
}

/** Starts what tidies up after people: expired sessions, and rights without a sign-in. */
export function startPeopleJobs(parts: Pick<PeopleFoundation, "database" | "settings" | "log" | "now">) {
  return [startSessionSweep(parts), startUnusedRights(parts)];
}

/** Deletes expired sessions and proofs, and seals secrets anew, at the start and every ten minutes. Returns what stops it. */
function startSessionSweep({ database, log, now }: Pick<PeopleFoundation, "database" | "log" | "now">) {
  return repeat({
    everyMs: SESSION_SWEEP_MS,
    async run() {
      await sweepSessions(database, now());
      // The keys that seal them may have changed since the start.
      await sealSharedSecrets(database);
    },
    onFault: (fault) => log.error(describeFault(fault), "session sweep failed"),
    beginsNow: true,
  });
}

/** Ends the rights of people who sign in at their provider no more, once an hour. Returns what stops it. */
function startUnusedRights({
  database,
  settings,
  log,
  now,
}: Pick<PeopleFoundation, "database" | "settings" | "log" | "now">) {
  const rules = () => settings.signIn ?? NO_SIGN_IN_RULES;
  return repeat({
    everyMs: HOUR_MS,
    async run() {
      const identities = await endUnusedRights({ database, rules, now });
      if (identities > 0) log.warn({ identities }, "rights of identities without a sign-in ended");
    },
    onFault: (fault) => log.error(describeFault(fault), "end of unused rights failed"),
  });
}

const RECORDING_SWEEP_MS = 60_000;

/** Deletes recordings whose time is over, at the start and once a minute. Returns what stops it. */
export function startRecordingSweep({
  database,
  bounds,
  metrics,
  log,
  now,
}: Pick<PeopleFoundation, "database" | "log" | "now"> & {
  readonly bounds: RecordingBounds;
  readonly metrics: RecordingMetrics;
}) {
  return repeat({
    everyMs: RECORDING_SWEEP_MS,
    run: () => sweepRecordings(database, { bounds, metrics, nowMs: now() }),
    onFault: (fault) => log.error(describeFault(fault), "recording sweep failed"),
    beginsNow: true,
  });
}

const ACCOUNT_SWEEP_MS = 60_000;

type AccountSweepParts = SuspensionParts &
  Parameters<typeof sweepChildLimits>[0] &
  Parameters<typeof sweepRuns>[0] &
  Parameters<typeof sweepEndedChildren>[0] & { readonly log: Log };

/**
 * Repairs once a minute what a killed process left: freezes the wallets of suspended accounts. Deletes what callers
 * leave behind: kept answers, limits of children, ended children, unused runs, values of tags. Several gateways may do
 * so at once.
 */
export function startAccountSweep(
  parts: AccountSweepParts,
  everyMs: number = ACCOUNT_SWEEP_MS,
): { close(): Promise<void> } {
  const sweepTagValues = createTagValueSweep(parts);
  return repeat({
    everyMs,
    async run() {
      const frozen = await freezeSuspended(parts);
      if (frozen > 0) parts.log.warn({ wallets: frozen }, "wallets of suspended accounts frozen");
      await sweepAnswers(parts);
      await sweepChildLimits(parts);
      await sweepEndedChildren(parts);
      await sweepRuns(parts);
      await sweepTagValues();
    },
    onFault: (fault) => parts.log.error(describeFault(fault), "sweep of accounts failed"),
  });
}
