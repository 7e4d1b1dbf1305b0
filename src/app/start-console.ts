import type { Config, LiveConfig } from "../config/config.ts";
import { findConsoleWarnings } from "../config/console.ts";
import { readPayments } from "../config/payments.ts";
import type { Database } from "../db/database.ts";
import { countGateways } from "../db/gateways.ts";
import { createMasterKeys } from "../db/sealing.ts";
import { createMails } from "../delivery/mail/mails.ts";
import { type MailServerWatch, watchMailServer } from "../delivery/mail/server-watch.ts";
import { DEMO_MODEL } from "../demo/demo-model.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ConsoleParts, ConsoleSettings, Platform } from "../http/console/console-parts.ts";
import type { ConsoleEntry } from "../http/console/entry.ts";
import { createPages } from "../http/console/pages.ts";
import { createAddressOf } from "../http/console/request-context.ts";
import type { RunningRequests } from "../http/http-parts.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { startAutoTopUps } from "../payments/auto-job.ts";
import { addressOfWallet, createStripeClient } from "../payments/stripe.ts";
import type { StripeSettings } from "../payments/stripe-library.ts";
import { startPaymentSweep } from "../payments/sweep.ts";
import { startReconciliation } from "../plans/billing/reconcile.ts";
import { startPlanPasses } from "../plans/pass.ts";
import { loadPart, programFile } from "../program-files.ts";
import { createProviderPage } from "../setup/provider-page.ts";
import type { ReadBackground } from "../telemetry/background-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createAuditJob } from "./audit-job.ts";
import { type ConsoleBuilder, createConsoleBuilder } from "./console-build.ts";
import { readBuild } from "./console-cache.ts";
import { startMails, startNotices } from "./start-deliveries.ts";
import { createPeople, startAccountSweep, startPeopleJobs, startRecordingSweep } from "./start-people.ts";

interface Foundation {
  readonly database: Database;
  readonly ledger: Ledger;
  gateway(): Gateway;
  readonly outbox: Platform["outbox"];
  readonly running: RunningRequests;
  /** The latest configuration. */
  config(): LiveConfig;
  /** Origin of the listening server. */
  url(): string;
  readonly background: ReadBackground;
  readonly metrics: Pick<Metrics, "upstream" | "signIns" | "plans" | "recordings">;
  readonly log: Log;
}

/** The console of a gateway. */
export interface RunningConsole {
  /** Answers requests below `/console`. Its code is loaded at the first one: few processes ever show it. */
  readonly entry: ConsoleEntry;
  readonly parts: ConsoleParts;
  /** Builds the pages when these sources have no build yet. Nothing waits for it. */
  warmUp(): void;
  /** Ends endless streams, for which the drain would wait. */
  beginStop(): void;
  /** Stops the background work of the console. */
  close(): Promise<void>;
}

/** Starts the background work of the console. */
export function startConsole(config: Config, foundation: Foundation): RunningConsole {
  const stopping = new AbortController();
  const builder = createBuilder(config, foundation);
  const { mail } = config.console;
  const mailServer = mail && watchMailServer({ server: mail, log: foundation.log });
  const workers: { wake(): void }[] = [];
  const onOrder = () => {
    for (const worker of workers) worker.wake();
  };
  const signals = { stopping: stopping.signal, onOrder };
  const parts = createParts(config, foundation, { builder, mailServer, ...signals });
  for (const warning of findConsoleWarnings(config.console, config)) foundation.log.warn({}, warning);
  const mails = startMails(parts, mailServer);
  const notices = startNotices(parts, foundation.metrics.upstream);
  workers.push(mails, notices);
  const jobs = [
    builder,
    startAccountSweep({ ...parts, keptFromMs: createKeptFrom(config, foundation) }),
    mails,
    notices,
    startPaymentSweep(parts),
    ...startStripeJobs(parts),
    startPlanPasses({ ...parts, metrics: foundation.metrics.plans }),
    ...startPeopleJobs(parts),
    startRecordingSweep({ ...parts, bounds: config.recordings, metrics: foundation.metrics.recordings }),
    ...(mailServer ? [mailServer] : []),
  ];
  const close = async () => {
    await Promise.all([...jobs.map((job) => job.close()), parts.platform.audit?.close()]);
  };
  let loading: Promise<ConsoleEntry> | undefined;
  const load = async () => (await loadPart(() => import("../http/console/entry.ts"))).createConsole(parts);
  const entry: ConsoleEntry = async (request, peer) => {
    loading ??= load().catch((error) => {
      // A failed load is tried again at the next request.
      loading = undefined;
      throw error;
    });
    return (await loading)(request, peer);
  };
  const warmUp = () => void builder.current();
  return { entry, parts, warmUp, beginStop: () => stopping.abort(), close };
}

/** Starts automatic top-ups and sold subscriptions where payments are set up. */
function startStripeJobs(parts: ConsoleParts) {
  const { settings } = parts;
  if (!settings.stripe) return [];
  const stripe = createStripeClient(settings.stripe);
  const returnUrl = (account: string) => addressOfWallet(settings.publicUrl, account);
  const isOffered = () => !settings.payments.hasTax;
  const plans = () => settings.plans ?? [];
  return [
    startAutoTopUps({ ...parts, stripe, returnUrl, isOffered }),
    startReconciliation({ ...parts, stripe, plans }),
  ];
}

function createBuilder({ dataFolder }: Config, { log }: Foundation): ConsoleBuilder {
  return Bun.isStandaloneExecutable ? createConsoleInside() : createConsoleBuilder({ dataFolder, log });
}

interface ConsoleJobs {
  readonly builder: ConsoleBuilder;
  readonly mailServer: MailServerWatch | undefined;
  readonly stopping: AbortSignal;
  /** Called when this process has ordered a mail or a webhook. */
  onOrder(): void;
}

function createParts(
  config: Config,
  foundation: Foundation,
  { builder, mailServer, stopping, onOrder }: ConsoleJobs,
): ConsoleParts {
  const { database, ledger, gateway, running, metrics, log } = foundation;
  const settings = readSettings(config, foundation);
  const mails = createMails(database, Date.now, onOrder);
  return {
    database,
    ledger,
    gateway,
    running,
    log,
    signIns: metrics.signIns,
    settings,
    mails,
    wakeWebhooks: onOrder,
    ...createPeople({ database, ledger, gateway, settings, mails, log, now: Date.now }),
    addressOf: createAddressOf(settings.trustedProxies),
    pages: createPages(builder.current),
    stopping,
    recordingKeys: createMasterKeys(() => config.console.recordingKeys),
    platform: createPlatform(config, foundation, mailServer),
    now: Date.now,
  };
}

/** Receipts of a remote ledger are dropped by its own file: this one's setting stands for it. */
function createKeptFrom(
  { ledger, receiptsDays }: Config,
  { database }: Pick<Foundation, "database">,
): () => Promise<number> {
  if (ledger.remote) return async () => (receiptsDays === undefined ? 0 : Date.now() - receiptsDays * DAY_MS);
  return async () => (await import("../ledger/retention/report.ts")).readKeptFromMs(database);
}

function createPlatform(
  { ledger, settingsPlace }: Config,
  { database, ledger: books, outbox, background, log }: Foundation,
  mailServer: MailServerWatch | undefined,
): Platform {
  // The database of a remote ledger is not here.
  const audit = ledger.remote ? undefined : createAuditJob({ database, log, now: Date.now });
  const forgetEndUser: Platform["forgetEndUser"] = ledger.remote
    ? undefined
    : async (forgetting) =>
        (await import("../ledger/end-users.ts")).forgetEndUser({ database, ledger: books }, forgetting);
  const providers =
    settingsPlace &&
    createProviderPage({
      place: settingsPlace,
      hasPeers: async () => (await countGateways(database)) > 1,
      now: Date.now,
    });
  return { outbox, background, mailServer: () => mailServer?.state(), audit, forgetEndUser, providers };
}

/** The sign-up follows the configuration file, and the default origin needs the port of the server. */
function readSettings(
  { console }: Config,
  { config, url }: Pick<Foundation, "config" | "url">,
): ConsoleSettings {
  const { publicUrl, trustedProxies, mail, stripe, allowsLoopbackWebhooks } = console;
  return {
    get publicUrl() {
      return publicUrl ?? url();
    },
    get refundCreditDays() {
      return config().refundCreditDays;
    },
    get signUp() {
      return config().signUp ?? "invited";
    },
    get signIn() {
      return config().signIn;
    },
    get payments() {
      return config().payments ?? readPayments({});
    },
    get plans() {
      return config().plans;
    },
    get company() {
      return config().company;
    },
    get paymentCallers() {
      return config().payments?.callers;
    },
    get isDemoOnly() {
      return config().models.every(({ id }) => id === DEMO_MODEL.id);
    },
    trustedProxies,
    allowsLoopbackWebhooks,
    mail,
    stripe: hasBothSecrets(stripe) ? stripe : undefined,
  };
}

/** Says so also of later values: a rotated secret is never empty. */
function hasBothSecrets(stripe: Config["console"]["stripe"]): stripe is StripeSettings {
  return Boolean(stripe.secretKey && stripe.webhookSecret);
}

/** Serves the pages that this executable was built with: there is nothing left to build, mark or delete. */
function createConsoleInside(): ConsoleBuilder {
  const reading = readBuild(programFile("console"));
  return {
    current: async () => (await reading) ?? "failed",
    close: async () => undefined,
  };
}
