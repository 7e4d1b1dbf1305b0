import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { id, nothing, pageOf, pageQuery, time } from "./shapes.ts";

const ruleKind = t.Union([t.Literal("balance_below"), t.Literal("key_limit"), t.Literal("upstream_errors")]);

/** `ended_at` is null while the threshold is crossed. `subject` is the id of an account or key, or an upstream. */
const notice = t.Object({
  id,
  kind: t.Union([ruleKind, t.Literal("test")]),
  text: t.String(),
  subject: t.String(),
  raised_at: time,
  ended_at: t.Nullable(time),
  read_at: t.Nullable(time),
});

const threshold = t.String({
  pattern: "^\\d{1,9}(\\.\\d{1,9})?$",
  description: "USD for balance_below; whole percent from 1 to 100 for the other kinds",
});
const emails = t.Array(t.String({ minLength: 3, maxLength: 254 }), { maxItems: 10 });
const webhookUrl = t.Nullable(t.String({ minLength: 1, maxLength: 2048 }));

const noticeRule = t.Object({
  id,
  kind: ruleKind,
  threshold: t.String(),
  emails: t.Array(t.String()),
  webhook_url: t.Nullable(t.String()),
  version: t.Integer(),
  created_at: time,
  is_raised: t.Boolean({ description: "whether the threshold is crossed now" }),
});

const delivery = t.Object({
  id,
  notice_id: id,
  channel: t.Union([t.Literal("mail"), t.Literal("webhook")]),
  target: t.String(),
  state: t.Union([t.Literal("waiting"), t.Literal("delivered"), t.Literal("failed")]),
  attempts: t.Integer(),
  created_at: time,
  next_at: t.Nullable(time),
  ended_at: t.Nullable(time),
});

const ruleParams = t.Object({ account: id, rule: id });

/** Routes of notices, of the rules that raise them, and of their deliveries. */
export function noticesRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/notices", notBuilt, {
      needs: "notices.read",
      query: pageQuery,
      response: t.Composite([pageOf(notice), t.Object({ unread: t.Integer() })]),
    })
    .post("/accounts/:account/notices/:id/read", notBuilt, { needs: "notices.read", response: notice })
    .get("/accounts/:account/notice-rules", notBuilt, {
      needs: "notices.read",
      response: t.Object({ items: t.Array(noticeRule) }),
    })
    .post("/accounts/:account/notice-rules", notBuilt, {
      needs: "notices.write",
      body: t.Object({ kind: ruleKind, threshold, emails, webhook_url: webhookUrl }),
      response: noticeRule,
    })
    .patch("/accounts/:account/notice-rules/:rule", notBuilt, {
      needs: "notices.write",
      params: ruleParams,
      body: t.Object({
        version: t.Integer(),
        threshold: t.Optional(threshold),
        emails: t.Optional(emails),
        webhook_url: t.Optional(webhookUrl),
      }),
      response: noticeRule,
    })
    .delete("/accounts/:account/notice-rules/:rule", notBuilt, {
      needs: "notices.write",
      params: ruleParams,
      response: nothing,
    })
    .post("/accounts/:account/notice-rules/:rule/test", notBuilt, {
      needs: "notices.write",
      params: ruleParams,
      response: notice,
    })
    .get("/accounts/:account/notice-rules/:rule/secret", notBuilt, {
      needs: "notices.write",
      params: ruleParams,
      response: t.Object({ secret: t.String() }),
    })
    .get("/accounts/:account/notice-rules/:rule/deliveries", notBuilt, {
      needs: "notices.read",
      params: ruleParams,
      response: t.Object({ items: t.Array(delivery) }),
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
