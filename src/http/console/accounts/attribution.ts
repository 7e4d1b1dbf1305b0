import { Elysia, t } from "elysia";
import { forgetEndUser } from "../../../accounts/attribution/forget.ts";
import {
  attributionOf,
  printSettings,
  setAttribution,
  TAG_KEY_PATTERN,
  TAG_KEYS_MAX,
} from "../../../accounts/attribution/settings.ts";
import { GatewayError } from "../../../errors.ts";
import { LedgerError } from "../../../ledger/ledger.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { id, oneOf } from "../shapes.ts";

const endUsers = oneOf(["plain", "hashed", "off"], {
  description: "How receipts name end users: by the text that was sent, by a hash of it, or not at all",
});
const tagKeys = t.Array(t.String({ pattern: TAG_KEY_PATTERN }), {
  maxItems: TAG_KEYS_MAX,
  description: "The keys that x-tollgate-tags may have",
});
const settings = t.Object({ end_users: endUsers, tag_keys: tagKeys });
const params = t.Object({ account: id });

type Parts = PartsOf<"platform">;

/** How requests of an account may name whom they are for. */
export function attributionRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Accounts"))
    .get("/accounts/:account/attribution", ({ account }) => printSettings(attributionOf(account)), {
      summary: "Read how receipts name end users, and the keys of tags",
      needs: "account.read",
      params,
      response: settings,
    })
    .patch(
      "/accounts/:account/attribution",
      async ({ account, body, actor }) => {
        const edit = { endUsers: body.end_users, tagKeys: body.tag_keys };
        return printSettings(attributionOf(await setAttribution(parts, actor, account.id, edit)));
      },
      {
        summary: "Set how receipts name end users, and the keys of tags",
        needs: "account.write",
        params,
        body: t.Partial(settings),
        response: settings,
      },
    )
    .post(
      "/accounts/:account/attribution/forget",
      async ({ account, body, actor }) => {
        const { forgetEndUser: forget } = parts.platform;
        if (!forget) throw new GatewayError("not_built");
        const change = { accountId: account.id, endUser: body.end_user };
        return forgetEndUser({ ...parts, forget }, actor, change).catch(throwRunning);
      },
      {
        summary: "Replace the name of an end user by a pseudonym on receipts; sums stay",
        needs: "account.write",
        params,
        body: t.Object({ end_user: t.String({ minLength: 1, maxLength: 1024 }) }),
        response: t.Object({
          receipts: t.Integer(),
          running: t.Integer({
            description: "Running requests, whose receipts keep the name: try again later",
          }),
          pseudonym: t.String(),
        }),
      },
    );
}

/** A limit may name the end user: then nothing is replaced while a request runs. */
function throwRunning(fault: unknown): never {
  const isRunning = fault instanceof LedgerError && fault.code === "conflict";
  throw isRunning ? new GatewayError("conflict") : fault;
}
