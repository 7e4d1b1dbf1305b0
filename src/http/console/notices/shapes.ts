import { type Static, t } from "elysia";
import { printTime } from "../../../domain/id-time.ts";
import type { Delivery, Notice } from "../../../notices/notices.ts";
import { type NoticeRule, printThreshold, RULE_EMAILS_MAX } from "../../../notices/rule.ts";
import { id, oneOf, pageQuery, time } from "../shapes.ts";

export const ruleKind = oneOf([
  "balance_below",
  "credit_ends",
  "key_limit",
  "subject_limit",
  "upstream_errors",
]);

export const threshold = t.String({
  pattern: "^\\d{1,10}(\\.\\d{1,9})?$",
  description:
    "USD for balance_below, days from 1 to 100 for credit_ends, whole percent from 1 to 100 for the other kinds",
});
export const emails = t.Array(t.String({ minLength: 3, maxLength: 254 }), {
  maxItems: RULE_EMAILS_MAX,
});
export const webhookUrl = t.Nullable(t.String({ minLength: 1, maxLength: 2048 }));

/** `ended_at` is null while the threshold is crossed. `subject` is the id of an account or key, an upstream or the number of a credit. */
export const notice = t.Object({
  id,
  kind: t.Union([ruleKind, t.Literal("subject_summary"), t.Literal("test")]),
  text: t.String(),
  subject: t.String(),
  subject_kind: t.Nullable(t.String({ description: "end_user, member, run or key, for subject_limit" })),
  raised_at: time,
  ended_at: t.Nullable(time),
  read_at: t.Nullable(time),
});

export const noticeQuery = t.Composite([
  pageQuery,
  t.Object({
    q: t.Optional(t.String({ maxLength: 254, description: "part of the sentence of a notice" })),
    state: t.Optional(t.Union([t.Literal("unread"), t.Literal("crossed")])),
    of: t.Optional(
      oneOf(["account", "subjects"], {
        description:
          "of the wallet, keys, projects and upstreams, or of single end users, members, runs and child keys",
      }),
    ),
  }),
]);

/** Developers, viewers and operators see the origin of `webhook_url` alone, because its path may hold a secret. */
export const noticeRule = t.Object({
  id,
  kind: ruleKind,
  threshold: t.String(),
  emails: t.Array(t.String()),
  webhook_url: t.Nullable(t.String()),
  version: t.Integer(),
  created_at: time,
  is_paused: t.Boolean({ description: "whether the rule is not evaluated" }),
  is_raised: t.Boolean({ description: "whether an episode of this rule runs now" }),
});

export const delivery = t.Object({
  id,
  notice_id: id,
  channel: oneOf(["mail", "webhook"]),
  target: t.String(),
  state: oneOf(["waiting", "delivered", "failed"]),
  attempts: t.Integer({ description: "tries so far, at most 3" }),
  last_status: t.Nullable(
    t.Integer({ description: "HTTP status of the last webhook call; null when the receiver sent none" }),
  ),
  created_at: time,
  next_at: t.Nullable(time),
  ended_at: t.Nullable(time),
});

export function printNotice({ data, subject, ...times }: Notice): Static<typeof notice> {
  const { kind, text, subject_kind = null } = data;
  return {
    id: times.id,
    ...{ kind, text, subject, subject_kind },
    raised_at: printTime(times.raisedAtMs),
    ended_at: printTime(times.endedAtMs),
    read_at: printTime(times.readAtMs),
  };
}

export interface RuleView {
  readonly isRaised: boolean;
  /** Whether the whole URL of the webhook is shown. */
  readonly showsUrl: boolean;
}

export function printRule(rule: NoticeRule, { isRaised, showsUrl }: RuleView): Static<typeof noticeRule> {
  const { kind, webhookUrl: url, version, pausedAtMs } = rule;
  const shown = url !== undefined && !showsUrl ? new URL(url).origin : url;
  return {
    id: rule.id,
    ...{ kind, version },
    threshold: printThreshold(rule),
    emails: [...rule.emails],
    webhook_url: shown ?? null,
    created_at: printTime(rule.createdAtMs),
    is_paused: pausedAtMs !== undefined,
    is_raised: isRaised,
  };
}

export function printDelivery(sent: Delivery): Static<typeof delivery> {
  const { channel, target, state, attempts } = sent;
  return {
    id: sent.id,
    notice_id: sent.noticeId,
    ...{ channel, target, state, attempts },
    last_status: sent.lastStatus ?? null,
    created_at: printTime(sent.createdAtMs),
    next_at: printTime(sent.nextAtMs),
    ended_at: printTime(sent.endedAtMs),
  };
}
