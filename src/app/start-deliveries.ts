import { mintInvitationToken } from "../accounts/people/invitation-links.ts";
import { startMailWorker } from "../delivery/mail/mail-worker.ts";
import type { MailOrder } from "../delivery/mail/mails.ts";
import type { MailServerWatch } from "../delivery/mail/server-watch.ts";
import { createPrinter, createSmtpTransport } from "../delivery/mail/transport.ts";
import { type PostWebhook, startWebhookWorker } from "../delivery/webhook-worker.ts";
import type { ConsoleParts } from "../http/console/console-parts.ts";
import type { AttemptTotals } from "../notices/upstream-attempts.ts";
import { startNoticeWatch } from "../notices/watch.ts";
import type { CountedUpstreams } from "../telemetry/upstream-metrics.ts";

type UpstreamCounts = Pick<CountedUpstreams, "attempts">;

type NoticeParts = Pick<ConsoleParts, "database" | "ledger" | "log" | "mails" | "now" | "wakeWebhooks"> & {
  readonly settings: Pick<ConsoleParts["settings"], "allowsLoopbackWebhooks">;
};

/** Starts watching the thresholds of notices, and calling webhooks. `post` replaces the network. */
export function startNotices(parts: NoticeParts, upstreams: UpstreamCounts, post?: PostWebhook) {
  const { database, settings, log } = parts;
  const allowsLoopback = settings.allowsLoopbackWebhooks ?? false;
  const watch = startNoticeWatch({ ...parts, attempts: () => countAttempts(upstreams.attempts()) });
  const webhooks = startWebhookWorker({ database, log, allowsLoopback, post });
  return {
    wake: webhooks.wake,
    close: async () => void (await Promise.all([watch.close(), webhooks.close()])),
  };
}

/** Outcomes that an upstream is to blame for. */
const FAILURES = ["upstream_unavailable", "upstream_timeout"];

function countAttempts(byUpstream: ReturnType<UpstreamCounts["attempts"]>): AttemptTotals {
  const counts = [...byUpstream].map(([upstream, outcomes]) => {
    const attempts = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
    const failed = FAILURES.reduce((sum, outcome) => sum + (outcomes.get(outcome) ?? 0), 0);
    return [upstream, { attempts, failed }] as const;
  });
  return new Map(counts);
}

/** The pages that the links of mails open. */
const PAGES = { password_reset: "reset", email_verification: "verify", invitation: "accept" } as const;

/** Starts sending the mails of the database. `watch` is that of the mail server; without one, they are printed. */
export function startMails(parts: ConsoleParts, watch: MailServerWatch | undefined) {
  const { database, settings, log } = parts;
  const send = settings.mail ? createSmtpTransport(settings.mail) : createPrinter();
  const publicUrl = () => settings.publicUrl;
  return startMailWorker({
    database,
    send: watch ? watch.guard(send) : send,
    mint: (order) => mintLink(parts, order),
    publicUrl,
    log,
  });
}

/** Makes the link of a mail, with a new token. `undefined` drops the mail. */
async function mintLink(
  parts: ConsoleParts,
  order: MailOrder,
): Promise<{ readonly link: string } | undefined> {
  const root = `${parts.settings.publicUrl}/console`;
  if (order.template === "payment_reversed") return { link: `${root}/operator/accounts` };
  if (order.template === "auto_top_up") {
    return { link: `${root}/accounts/${encodeURIComponent(String(order.data.account_id))}/wallet` };
  }
  if (order.template === "notice" || order.template === "subject_notice") {
    return { link: `${root}/accounts/${encodeURIComponent(String(order.data.account_id))}/notices` };
  }
  const token = await mintToken(parts, order);
  if (token === undefined) return undefined;
  return { link: `${root}/${PAGES[order.template]}?token=${encodeURIComponent(token)}` };
}

async function mintToken(
  { credentials, database, now }: ConsoleParts,
  { template, address, data }: MailOrder,
): Promise<string | undefined> {
  if (template === "password_reset") return credentials.signIn.mintReset(address);
  if (template === "email_verification") return credentials.signIn.mintVerification(address);
  return mintInvitationToken(database, String(data.invitation_id), now());
}
