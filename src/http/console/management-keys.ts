import { Elysia, t } from "elysia";
import type { Actor } from "../../accounts/audit-trail.ts";
import { createOnce } from "../../accounts/idempotency.ts";
import {
  issueManagementKey,
  listManagementKeys,
  type ManagementScope,
  revokeManagementKey,
} from "../../accounts/keys/management-keys.ts";
import { managementKey, name, printManagementKey } from "./accounts/shapes.ts";
import { createGuard, type GuardParts } from "./guard.ts";
import { id, listOf, nothing, roleName as role } from "./shapes.ts";

const issued = t.Object({
  key: managementKey,
  secret: t.String({ description: "mk-tg- and 43 characters; shown only here" }),
});
type IssuedShape = typeof issued.static;
const expiresAt = t.Optional(t.Nullable(t.String({ format: "date-time" })));
const accountPath = t.Object({ account: id });

/** Management keys of an account, and those of the platform for operators. */
export function managementKeysRoutes(parts: GuardParts) {
  return new Elysia().use(accountRoutes(parts)).use(platformRoutes(parts));
}

function accountRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Management keys"))
    .get("/accounts/:account/management-keys", ({ params }) => list(parts, params.account), {
      summary: "List the management keys of an account",
      needs: "management_keys.read",
      params: accountPath,
      response: listOf(managementKey),
    })
    .post(
      "/accounts/:account/management-keys",
      (context) => issue(parts, context, { accountId: context.params.account, role: context.body.role }),
      {
        summary: "Create a management key; its secret is shown once",
        isIdempotent: true,
        needs: "management_keys.write",
        confirmed: true,
        params: accountPath,
        body: t.Object({ name, role, expires_at: expiresAt }),
        response: issued,
      },
    )
    .delete(
      "/accounts/:account/management-keys/:key",
      ({ params, actor }) => revoke(parts, actor, { id: params.key, accountId: params.account }),
      {
        summary: "Revoke a management key",
        needs: "management_keys.write",
        params: t.Object({ account: id, key: id }),
        response: nothing,
      },
    );
}

function platformRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/management-keys", () => list(parts, undefined), {
      summary: "List the management keys of the platform",
      needsOperator: true,
      response: listOf(managementKey),
    })
    .post(
      "/operator/management-keys",
      (context) => issue(parts, context, { accountId: undefined, role: "operator" }),
      {
        summary: "Create a management key of the platform",
        isIdempotent: true,
        needsOperator: true,
        confirmed: true,
        body: t.Object({ name, expires_at: expiresAt }),
        response: issued,
      },
    )
    .delete(
      "/operator/management-keys/:key",
      ({ params, actor }) => revoke(parts, actor, { id: params.key, accountId: undefined }),
      {
        summary: "Revoke a management key of the platform",
        needsOperator: true,
        params: t.Object({ key: id }),
        response: nothing,
      },
    );
}

async function list({ database, now }: GuardParts, accountId: string | undefined) {
  const keys = await listManagementKeys(database, accountId);
  return { items: keys.map((key) => printManagementKey(key, now())) };
}

interface Issue {
  readonly request: Request;
  readonly actor: Actor;
  readonly body: { readonly name: string; readonly expires_at?: string | null };
}

function issue(
  parts: GuardParts,
  { request, actor, body }: Issue,
  scope: ManagementScope,
): Promise<IssuedShape> {
  const expiresAtMs = body.expires_at ? Date.parse(body.expires_at) : undefined;
  return createOnce<IssuedShape>(parts, { request, body }, actor, async (keep) => {
    const print = ({ key, secret }: Awaited<ReturnType<typeof issueManagementKey>>) => ({
      key: printManagementKey(key, parts.now()),
      secret,
    });
    const wanted = { ...scope, name: body.name, expiresAtMs };
    return print(await issueManagementKey(parts, actor, wanted, (tx, result) => keep(tx, print(result))));
  });
}

async function revoke(
  parts: GuardParts,
  actor: Actor,
  key: { readonly id: string; readonly accountId: string | undefined },
) {
  await revokeManagementKey(parts, actor, key);
  return {};
}
