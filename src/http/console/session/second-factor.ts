import { Elysia, t } from "elysia";
import { trustedSessionOf } from "../../../accounts/people/throttle.ts";
import {
  beginSecondFactor,
  finishSecondFactor,
  isRequired,
  removeSecondFactor,
  renewRecoveryCodes,
} from "../../../accounts/second-factor/second-factor.ts";
import { NO_SIGN_IN_RULES } from "../../../domain/sign-in-rules.ts";
import { GatewayError } from "../../../errors.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { visitorOf } from "../request-context.ts";
import { nothing } from "../shapes.ts";
import { requireSession } from "./me.ts";
import { codeField } from "./shapes.ts";

type Parts = PartsOf<"settings" | "throttle">;

const recoveryCodes = () => t.Object({ recovery_codes: t.Array(t.String()) });

/** Routes of the second factor of a person's password. */
export function secondFactorRoutes(parts: Parts) {
  const { database, settings, throttle, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .post(
      "/me/second-factor",
      async ({ actor }) => {
        requireSession(actor);
        const { host } = new URL(settings.publicUrl);
        return await beginSecondFactor(database, { actor, host }, now());
      },
      {
        summary: "Begin to set up a second factor: the secret for an authenticator app",
        needsPassword: true,
        confirmed: true,
        response: t.Object({ secret: t.String(), uri: t.String() }),
      },
    )
    .post(
      "/me/second-factor/confirm",
      async ({ request, actor, body }) => {
        const attempt = { ...visitorOf(request), trusted: trustedSessionOf(requireSession(actor)) };
        const finish = () => finishSecondFactor(database, { actor, code: body.code }, now());
        return { recovery_codes: [...(await throttle("guess", attempt, finish))] };
      },
      {
        summary: "Put the second factor in force by a code of the app; other sessions end",
        needsPassword: true,
        confirmed: true,
        body: t.Object({ code: codeField }),
        response: recoveryCodes(),
      },
    )
    .post(
      "/me/second-factor/recovery-codes",
      async ({ actor }) => {
        requireSession(actor);
        return { recovery_codes: [...(await renewRecoveryCodes(database, actor, now()))] };
      },
      {
        summary: "Replace the recovery codes, which are shown once",
        needsSession: true,
        confirmed: true,
        response: recoveryCodes(),
      },
    )
    .delete(
      "/me/second-factor",
      async ({ actor }) => {
        requireSession(actor);
        if (isRequired(settings.signIn ?? NO_SIGN_IN_RULES, actor)) throw new GatewayError("not_permitted");
        await removeSecondFactor(database, { actor, personId: actor.id }, now());
        return {};
      },
      { summary: "Remove the second factor", needsSession: true, confirmed: true, response: nothing },
    );
}
