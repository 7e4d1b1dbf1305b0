import { Elysia, type Static, t } from "elysia";
import { createLink, listLinks, revokeLink, type SharedLink } from "../../accounts/shared-links.ts";
import { GatewayError } from "../../errors.ts";
import { printTime } from "../../time.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { contextOf } from "./request-context.ts";
import { id, nothing, time } from "./shapes.ts";
import { createSharedViews, sharedUsage } from "./shared-usage.ts";

/** Without a key, the link shows the whole account. */
const link = t.Object({
  id,
  key: t.Nullable(t.Object({ id, name: t.String() })),
  shows_names: t.Boolean(),
  created_by: t.String(),
  created_at: time,
  expires_at: time,
  revoked_at: t.Nullable(time),
  state: t.Union([t.Literal("active"), t.Literal("expired"), t.Literal("revoked")]),
});

/** Routes of shared links: read-only views of usage, for people without a session. */
export function sharedLinksRoutes(parts: ConsoleParts) {
  const { database, now, settings } = parts;
  const view = createSharedViews(parts);
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/links",
      async ({ account }) => {
        const links = await listLinks(database, account.id);
        return { items: links.map((each) => printLink(each, now())) };
      },
      { needs: "links.read", response: t.Object({ items: t.Array(link) }) },
    )
    .post(
      "/accounts/:account/links",
      async ({ account, actor, body: { key, shows_names, expires_at } }) => {
        const expiresAtMs = Date.parse(expires_at);
        if (Number.isNaN(expiresAtMs)) throw new GatewayError("wrong_shape", { path: "expires_at" });
        const order = { keyId: key, showsNames: shows_names, expiresAtMs };
        const created = await createLink(parts, actor, account.id, order);
        const url = `${settings.publicUrl}/console/shared/${created.token}`;
        return { link: printLink(created.link, now()), url };
      },
      {
        needs: "links.write",
        body: t.Object({ key: t.Optional(id), shows_names: t.Boolean(), expires_at: time }),
        response: t.Object({ link, url: t.String() }),
      },
    )
    .delete(
      "/accounts/:account/links/:link",
      async ({ account, actor, params }) => {
        await revokeLink(parts, actor, { accountId: account.id, id: params.link });
        return {};
      },
      { needs: "links.write", params: t.Object({ account: id, link: id }), response: nothing },
    )
    .get(
      "/shared/:token",
      ({ params, request }) => {
        const { address } = contextOf(request);
        return parts.throttle("guess", { address }, () => view(params.token));
      },
      { isPublic: true, params: t.Object({ token: t.String({ maxLength: 100 }) }), response: sharedUsage },
    );
}

function printLink(shared: SharedLink, nowMs: number): Static<typeof link> {
  const { key, revokedAtMs, expiresAtMs } = shared;
  const ended = nowMs < expiresAtMs ? "active" : "expired";
  return {
    id: shared.id,
    key: key ? { id: key.id, name: key.name ?? "" } : null,
    shows_names: shared.showsNames,
    created_by: shared.createdBy,
    created_at: printTime(shared.createdAtMs),
    expires_at: printTime(expiresAtMs),
    revoked_at: printTime(revokedAtMs),
    state: revokedAtMs === undefined ? ended : "revoked",
  };
}
