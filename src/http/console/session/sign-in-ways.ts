import { Elysia, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { hasPasskeys } from "../../../accounts/passkeys/passkeys.ts";
import { acceptsOwnProof } from "../../../accounts/people/credentials.ts";
import { listSignInWays, removeIdentity, type SignInWays } from "../../../accounts/people/sign-in-ways.ts";
import { isRequired } from "../../../accounts/second-factor/second-factor.ts";
import { printTime } from "../../../domain/id-time.ts";
import { NO_SIGN_IN_RULES } from "../../../domain/sign-in-rules.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { id, nothing, time } from "../shapes.ts";
import { requireSession } from "./me.ts";

type Parts = PartsOf<"settings">;

const waysShape = t.Object({
  password: t.Boolean(),
  /** Whether a password or passkey is a fresh proof in this session: else a provider alone is. */
  own_proof_accepted: t.Boolean(),
  providers: t.Array(t.Object({ id: t.String(), name: t.String() })),
  identities: t.Array(
    t.Object({
      id,
      /** Null where the file has the provider no more. */
      provider: t.Nullable(t.String()),
      name: t.String(),
      email: t.Nullable(t.String()),
      created_at: time,
      last_used_at: time,
    }),
  ),
  passkeys: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      synced: t.Boolean(),
      created_at: time,
      last_used_at: t.Nullable(time),
    }),
  ),
  /** Null without a second factor. */
  second_factor: t.Nullable(t.Object({ recovery_codes: t.Integer() })),
  second_factor_required: t.Boolean(),
  /** Whether browsers accept passkeys at the address of this console. */
  passkeys_available: t.Boolean(),
});

/** Routes of a signed-in person about its ways to sign in. */
export function signInWaysRoutes(parts: Parts) {
  const { database, settings, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .get(
      "/me/sign-in-ways",
      async ({ actor }) => {
        requireSession(actor);
        return printWays(parts, await listSignInWays(database, actor.id), actor);
      },
      { summary: "List the ways to sign in", needsSession: true, response: waysShape },
    )
    .delete(
      "/me/identities/:identity",
      async ({ actor, params }) => {
        requireSession(actor);
        const { requiresProvider } = settings.signIn ?? NO_SIGN_IN_RULES;
        const removal = { personId: actor.id, actor, requiresProvider, identityId: params.identity };
        await removeIdentity(database, removal, now());
        return {};
      },
      {
        summary: "Unlink an identity at a provider; its sessions end",
        needsSession: true,
        confirmed: true,
        params: t.Object({ identity: id }),
        response: nothing,
      },
    );
}

function printWays({ settings }: Parts, ways: SignInWays, actor: Pick<Actor, "isOperator" | "session">) {
  const rules = settings.signIn ?? NO_SIGN_IN_RULES;
  const { providers } = rules;
  const { recoveryCodes } = ways;
  return {
    password: ways.hasPassword,
    own_proof_accepted: acceptsOwnProof(rules, actor),
    providers: providers.map(({ id, name }) => ({ id, name })),
    identities: ways.identities.map((each) => {
      const provider = providers.find((one) => one.id === each.provider);
      return {
        id: each.id,
        provider: provider?.id ?? null,
        name: provider?.name ?? new URL(each.issuer).host,
        email: each.email,
        created_at: printTime(each.createdAtMs),
        last_used_at: printTime(each.lastUsedAtMs),
      };
    }),
    passkeys: ways.passkeys.map((each) => ({
      id: each.id,
      name: each.name,
      synced: each.isSynced,
      created_at: printTime(each.createdAtMs),
      last_used_at: printTime(each.lastUsedAtMs),
    })),
    second_factor: recoveryCodes === undefined ? null : { recovery_codes: recoveryCodes },
    second_factor_required: isRequired(rules, actor),
    passkeys_available: hasPasskeys(settings.publicUrl),
  };
}
