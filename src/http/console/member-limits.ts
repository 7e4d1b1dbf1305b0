import { Elysia, t } from "elysia";
import type { Account } from "../../accounts/accounts.ts";
import type { Actor } from "../../accounts/audit-trail.ts";
import { findAuthorNames } from "../../accounts/find-items.ts";
import { setMemberLimit } from "../../accounts/member-limits.ts";
import { listMembers } from "../../accounts/people/members.ts";
import { limitAmong } from "../../accounts/spending-limits.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { SpendLimitUsage } from "../../ledger/records.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { printSpendingLimit } from "./keys/print.ts";
import { readSpendingLimit } from "./keys/read-spending-limit.ts";
import { accountParams, keyId, spendingLimit, spendingLimitBody } from "./keys/shapes.ts";
import { printTemplate, templateLimit } from "./projects.ts";
import { id } from "./shapes.ts";

type Parts = PartsOf<"ledger">;

const memberLimits = t.Object({
  each_member: t.Nullable(templateLimit),
  items: t.Array(
    t.Object({
      person_id: id,
      name: t.String(),
      spending_limit: t.Nullable(spendingLimit),
      each_member: t.Nullable(spendingLimit),
    }),
  ),
});
const limitBody = t.Object({ spending_limit: t.Nullable(spendingLimitBody) });

/** What members may spend over all keys that they made, in all projects. */
export function memberLimitsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Team"))
    .get("/accounts/:account/member-limits", ({ account }) => view(parts, account), {
      summary: "List the spending limits of members",
      needs: "member_limits.read",
      params: accountParams,
      response: memberLimits,
    })
    .put("/accounts/:account/member-limits", (context) => put(parts, context, undefined), {
      summary: "Set or remove the spending limit of each member",
      needs: "member_limits.write",
      params: accountParams,
      body: limitBody,
      response: memberLimits,
    })
    .put(
      "/accounts/:account/member-limits/:person",
      (context) => put(parts, context, context.params.person),
      {
        summary: "Set or remove the spending limit of one member",
        needs: "member_limits.write",
        params: t.Object({ account: id, person: keyId }),
        body: limitBody,
        response: memberLimits,
      },
    );
}

interface LimitEdit {
  readonly account: Account;
  readonly actor: Actor;
  readonly body: typeof limitBody.static;
}

async function put(parts: Parts, { account, actor, body }: LimitEdit, personId: string | undefined) {
  const limit = readSpendingLimit(body.spending_limit);
  await setMemberLimit({ ...parts, actor }, { accountId: account.id, personId, limit });
  return view(parts, account);
}

/** Shows members, and people with a limit who are no members any more. */
async function view(
  { database, ledger }: Parts,
  { id: accountId }: Account,
): Promise<typeof memberLimits.static> {
  const [members, limits] = await Promise.all([
    listMembers(database, accountId),
    ledger.spendLimits(accountId),
  ]);
  const names = new Map(members.map(({ personId, name }) => [personId, name]));
  const limited = limits.flatMap(({ scope }) => (scope?.kind === "member" ? scope.id : []));
  const former = limited.filter((personId) => !names.has(personId));
  const formerNames = await findAuthorNames(database, former);
  for (const personId of former) names.set(personId, formerNames.get(personId) ?? "removed");
  const template = limitAmong(limits, { kind: "each_member" });
  return {
    each_member: template ? printTemplate(template) : null,
    items: await Promise.all(
      [...names].map(async ([personId, name]) => {
        const bound = template ? await readCounters(ledger, { accountId, personId }) : limits;
        const own = limitAmong(bound, { kind: "member", personId });
        const each = template && limitAmong(bound, { kind: "each_member" });
        return {
          person_id: personId,
          name,
          spending_limit: own ? printSpendingLimit(own) : null,
          each_member: each ? printSpendingLimit(each) : null,
        };
      }),
    ),
  };
}

/** A key that no hold has: the limits that bind it are those of the wallet and of the member. */
const NO_KEY = "none";

function readCounters(
  ledger: Ledger,
  { accountId, personId }: { readonly accountId: string; readonly personId: string },
): Promise<readonly SpendLimitUsage[]> {
  return ledger.spendLimits(accountId, NO_KEY, [{ kind: "member", id: personId }]);
}
