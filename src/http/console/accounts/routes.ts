import { Elysia, t } from "elysia";
import { type Account, type AccountEdit, createAccount, updateAccount } from "../../../accounts/accounts.ts";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { createOnce } from "../../../accounts/idempotency.ts";
import { normaliseEmail } from "../../../accounts/people/people.ts";
import { GatewayError } from "../../../errors.ts";
import type { PartsOf } from "../console-parts.ts";
import { readConflict } from "../errors.ts";
import { createGuard } from "../guard.ts";
import { conflictWith, id } from "../shapes.ts";
import { readAccountNow } from "./now.ts";
import { type AccountShape, account, accountNow, email, name, printAccount } from "./shapes.ts";

type Parts = PartsOf<"ledger" | "gateway" | "settings" | "throttle">;

/** Accounts: made by operators, and by people while sign-up is open. */
export function accountsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Accounts"))
    .post("/accounts", (context) => create(parts, context), {
      summary: "Create an account",
      isIdempotent: true,
      needsSession: true,
      body: t.Object({ name, email: t.Optional(email) }),
      response: account,
    })
    .get("/accounts/:account", ({ account }) => readAccountNow(parts, account), {
      summary: "Read an account, why its requests are refused, and how long its money lasts",
      needs: "account.read",
      params: t.Object({ account: id }),
      response: accountNow,
    })
    .patch(
      "/accounts/:account",
      async ({ params, body, actor, status }) => {
        try {
          return printAccount(await updateAccount(parts, actor, params.account, readEdit(body)));
        } catch (fault) {
          return status(409, readConflict<Account, AccountShape>(fault, printAccount));
        }
      },
      {
        summary: "Change an account",
        needs: "account.write",
        params: t.Object({ account: id }),
        body: t.Object({
          version: t.Integer(),
          name: t.Optional(name),
          email: t.Optional(t.Nullable(email)),
        }),
        response: { 200: account, 409: conflictWith(account) },
      },
    );
}

function readEdit({ email: text, ...edit }: AccountEdit): AccountEdit {
  return { ...edit, email: text ? normaliseEmail(text) : text };
}

interface Creation {
  readonly request: Request;
  readonly actor: Actor;
  readonly body: { readonly name: string; readonly email?: string };
}

/** A person becomes the owner of its account. A management key has no person: it owns as the platform's. */
async function create(parts: Parts, { request, actor, body }: Creation): Promise<AccountShape> {
  const mayCreate = actor.isOperator || (actor.kind === "person" && parts.settings.signUp === "open");
  if (!mayCreate || actor.session?.mustChangePassword) throw new GatewayError("not_permitted");
  const ownerId = actor.kind === "person" ? actor.id : undefined;
  const attempt = { address: actor.address, subject: actor.id };
  // Operators set up accounts of others, also many at once.
  const throttled = <Result>(work: () => Promise<Result>) =>
    actor.isOperator ? work() : parts.throttle("account", attempt, work);
  return throttled(() =>
    createOnce<AccountShape>(parts, { request, body }, actor, async (keep) => {
      const created = await createAccount(
        parts,
        { name: body.name, email: body.email && normaliseEmail(body.email), ownerId },
        { actor, created: (tx, account) => keep(tx, printAccount(account)) },
      );
      return printAccount(created);
    }),
  );
}
