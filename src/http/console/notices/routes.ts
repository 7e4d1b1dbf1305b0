import { Elysia, type Static, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { readWebhookSecret } from "../../../delivery/webhook-worker.ts";
import { GatewayError } from "../../../errors.ts";
import { raiseTest } from "../../../notices/episodes.ts";
import {
  countTests,
  countUnread,
  findNotice,
  findRaised,
  listDeliveries,
  listNotices,
  readNoticeAt,
} from "../../../notices/notices.ts";
import type { NoticeRule } from "../../../notices/rule.ts";
import {
  createRule,
  deleteRule,
  findRule,
  listRules,
  type NewRule,
  type RuleParts,
  updateRule,
} from "../../../notices/rules.ts";
import type { PartsOf } from "../console-parts.ts";
import { readConflict } from "../errors.ts";
import type { AccountAccess } from "../guard.ts";
import { createGuard } from "../guard.ts";
import { PERMISSIONS } from "../permissions.ts";
import { conflictWith, id, listOf, nothing, pageOf } from "../shapes.ts";
import {
  delivery,
  emails,
  notice,
  noticeQuery,
  noticeRule,
  printDelivery,
  printNotice,
  printRule,
  ruleKind,
  threshold,
  webhookUrl,
} from "./shapes.ts";

type Parts = PartsOf<"settings" | "mails">;

const ruleParams = t.Object({ account: id, rule: id });
const noticeParams = t.Object({ account: id, notice: id });
const newRule = t.Object({ kind: ruleKind, threshold, emails, webhook_url: webhookUrl });
const ruleEdit = t.Object({
  version: t.Integer(),
  threshold: t.Optional(threshold),
  emails: t.Optional(emails),
  webhook_url: t.Optional(webhookUrl),
  is_paused: t.Optional(t.Boolean()),
});
const noticePage = t.Composite([pageOf(notice), t.Object({ unread: t.Integer() })]);

type RuleShape = Static<typeof noticeRule>;

const PAGE_SIZE = 50;
const TESTS_MAX = 6;
const HOUR_MS = 3_600_000;

/** Routes of notices, of the rules that raise them, and of their deliveries. */
export function noticesRoutes(parts: Parts) {
  return new Elysia().use(listedNotices(parts)).use(ruleRoutes(parts)).use(ruleDeliveries(parts));
}

function listedNotices(parts: Parts) {
  const { database, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Notices"))
    .get(
      "/accounts/:account/notices",
      async ({ account, query: { page, size = PAGE_SIZE, of, q: text, state } }) => {
        const ofSubjects = of === undefined ? undefined : of === "subjects";
        const [{ items, next = null }, unread] = await Promise.all([
          listNotices(database, account.id, { page, size, ofSubjects, text, state }),
          countUnread(database, account.id),
        ]);
        return { items: items.map(printNotice), next, unread };
      },
      {
        summary: "List the notices, newest first",
        needs: "notices.read",
        query: noticeQuery,
        response: noticePage,
      },
    )
    .post(
      "/accounts/:account/notices/:notice/read",
      async ({ account, params }) => {
        const read = { accountId: account.id, id: params.notice };
        return printNotice(await readNoticeAt(database, read, now()));
      },
      { summary: "Mark a notice as read", needs: "notices.read", params: noticeParams, response: notice },
    );
}

function ruleRoutes(parts: Parts) {
  const rules = rulePartsOf(parts);
  const { database } = parts;
  return new Elysia()
    .use(createGuard(parts, "Notices"))
    .get(
      "/accounts/:account/notice-rules",
      async ({ account, role }) => ({
        items: await printRules(parts, await listRules(database, account.id), role),
      }),
      {
        summary: "List the notice rules",
        needs: "notices.read",
        response: listOf(noticeRule),
      },
    )
    .post(
      "/accounts/:account/notice-rules",
      async ({ account, actor, role, body }) => {
        checkKind(actor, body.kind);
        const { webhook_url, ...others } = body;
        const created = await createRule(rules, actor, account.id, { ...others, webhookUrl: webhook_url });
        return printOne(parts, created, role);
      },
      { summary: "Create a notice rule", needs: "notices.write", body: newRule, response: noticeRule },
    )
    .patch(
      "/accounts/:account/notice-rules/:rule",
      async ({ account, actor, params, role, body, status }) => {
        const { webhook_url, is_paused, ...edit } = body;
        const place = { accountId: account.id, id: params.rule };
        try {
          const edited = await updateRule(rules, actor, place, {
            ...edit,
            webhookUrl: webhook_url,
            isPaused: is_paused,
          });
          return await printOne(parts, edited, role);
        } catch (fault) {
          const print = (current: NoticeRule) =>
            printRule(current, { isRaised: false, showsUrl: mayReadUrl(role) });
          return status(409, readConflict<NoticeRule, RuleShape>(fault, print));
        }
      },
      {
        summary: "Change, pause or resume a notice rule",
        needs: "notices.write",
        params: ruleParams,
        body: ruleEdit,
        response: { 200: noticeRule, 409: conflictWith(noticeRule) },
      },
    )
    .delete(
      "/accounts/:account/notice-rules/:rule",
      async ({ account, actor, params }) => {
        await deleteRule(parts, actor, { accountId: account.id, id: params.rule });
        return {};
      },
      { summary: "Delete a notice rule", needs: "notices.write", params: ruleParams, response: nothing },
    );
}

function ruleDeliveries(parts: Parts) {
  const { database } = parts;
  return new Elysia()
    .use(createGuard(parts, "Notices"))
    .post(
      "/accounts/:account/notice-rules/:rule/test",
      async ({ account, params }) => printNotice(await testRule(parts, account.id, params.rule)),
      { summary: "Send a test notice", needs: "notices.write", params: ruleParams, response: notice },
    )
    .get(
      "/accounts/:account/notice-rules/:rule/secret",
      async ({ account, params }) => {
        const { id: ruleId } = await findRule(database, account.id, params.rule);
        return { secret: await readWebhookSecret(database, ruleId) };
      },
      {
        summary: "Read the secret that signs the webhook",
        needs: "notices.secrets",
        params: ruleParams,
        response: t.Object({ secret: t.String() }),
      },
    )
    .get(
      "/accounts/:account/notice-rules/:rule/deliveries",
      async ({ account, params }) => {
        const rule = await findRule(database, account.id, params.rule);
        return { items: (await listDeliveries(database, rule)).map(printDelivery) };
      },
      {
        summary: "List the mails and webhook calls of a rule",
        needs: "notices.read",
        params: ruleParams,
        response: listOf(delivery),
      },
    );
}

/** Upstreams serve all accounts: only operators are notified of them. */
function checkKind(actor: Actor, kind: NewRule["kind"]): void {
  if (kind === "upstream_errors" && !actor.isOperator) throw new GatewayError("not_permitted");
}

function rulePartsOf({ database, now, settings }: Parts): RuleParts {
  return { database, now, allowsLoopback: settings.allowsLoopbackWebhooks ?? false };
}

type AccountRole = AccountAccess["role"];

function mayReadUrl(role: AccountRole): boolean {
  return PERMISSIONS["notices.secrets"].roles.some((each) => each === role);
}

async function printRules(
  { database }: Parts,
  rules: readonly NoticeRule[],
  role: AccountRole,
): Promise<RuleShape[]> {
  const showsUrl = mayReadUrl(role);
  const raised = await findRaised(
    database,
    rules.map((rule) => rule.id),
  );
  return rules.map((rule) => printRule(rule, { isRaised: raised.has(rule.id), showsUrl }));
}

async function printOne(parts: Parts, rule: NoticeRule, role: AccountRole): Promise<RuleShape> {
  const [printed] = await printRules(parts, [rule], role);
  if (!printed) throw new GatewayError("unknown_item");
  return printed;
}

/** Delivers a test. Throttled, because its mails go to addresses that are not confirmed. */
async function testRule(parts: Parts, accountId: string, ruleId: string) {
  const { database, now } = parts;
  const rule = await findRule(database, accountId, ruleId);
  if ((await countTests(database, accountId, now() - HOUR_MS)) >= TESTS_MAX) {
    throw new GatewayError("sign_in_throttled", { retryAfterS: 60 });
  }
  const raised = await findNotice(database, await raiseTest(parts, rule));
  if (!raised) throw new GatewayError("unknown_item");
  return raised;
}
