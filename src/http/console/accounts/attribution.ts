import { Elysia, t } from "elysia";
import {
  attributionOf,
  printSettings,
  setAttribution,
  TAG_KEY_PATTERN,
  TAG_KEYS_MAX,
} from "../../../accounts/attribution/settings.ts";
import { createGuard, type GuardParts } from "../guard.ts";
import { id } from "../shapes.ts";

const endUsers = t.Union([t.Literal("plain"), t.Literal("hashed"), t.Literal("off")], {
  description: "How receipts name end users: by the text that was sent, by a hash of it, or not at all",
});
const tagKeys = t.Array(t.String({ pattern: TAG_KEY_PATTERN }), {
  maxItems: TAG_KEYS_MAX,
  description: "The keys that x-tollgate-tags may have",
});
const settings = t.Object({ end_users: endUsers, tag_keys: tagKeys });
const params = t.Object({ account: id });

/** How requests of an account may name whom they are for. */
export function attributionRoutes(parts: GuardParts) {
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
    );
}
