import { Elysia, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { hasPasskeys } from "../../../accounts/passkeys/passkeys.ts";
import {
  orderPasswordReset,
  resetPassword,
  signInPerson,
  verifyEmail,
} from "../../../accounts/people/credentials.ts";
import { cookieFormOf, printCookie } from "../../../accounts/people/session-cookie.ts";
import { endSession } from "../../../accounts/people/sessions.ts";
import { signUp } from "../../../accounts/people/sign-up.ts";
import { NO_SIGN_IN_RULES } from "../../../domain/sign-in-rules.ts";
import { VERSION } from "../../../domain/version.ts";
import { type Cause, GatewayError } from "../../../errors.ts";
import type { SignInMetrics, SignInResult } from "../../../telemetry/metrics.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { visitorOf } from "../request-context.ts";
import { nothing } from "../shapes.ts";
import { leaveProvider } from "./providers.ts";
import {
  codeField,
  emailField,
  nameField,
  passwordField,
  personShape,
  printPerson,
  setupShape,
  tokenField,
} from "./shapes.ts";

type Parts = PartsOf<"settings" | "credentials" | "signIns" | "signUps" | "providerSignIns" | "log">;

/** Routes for everybody: what the console offers, sign-in and sign-up, and the links of mails. */
export function signInRoutes(parts: Parts) {
  return new Elysia().use(sessionRoutes(parts)).use(mailedTokenRoutes(parts));
}

function sessionRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Sign-in"))
    .get("/setup", () => printSetup(parts), {
      summary: "Read what a visitor may do before the sign-in",
      isPublic: true,
      response: setupShape,
    })
    .post(
      "/sign-in",
      async ({ request, body, set, actor }) => {
        const signingIn = signInPerson(parts.credentials, visitorOf(request), body);
        const { person, cookies } = await countSignIn(parts.signIns, signingIn);
        // A browser has one session: the earlier one would stay valid without its cookie.
        await endOwnSession(parts, actor);
        set.headers["set-cookie"] = [...cookies];
        return { person: printPerson(person), must_change_password: person.mustChangePassword };
      },
      {
        summary: "Sign in by e-mail and password",
        isPublic: true,
        body: t.Object({ email: emailField, password: passwordField, code: t.Optional(codeField) }),
        response: t.Object({ person: personShape, must_change_password: t.Boolean() }),
      },
    )
    .post(
      "/sign-up",
      async ({ request, body, set, actor }) => {
        const { account_name: accountName, ...rest } = body;
        const { person, cookies } = await signUp(parts.signUps, visitorOf(request), { ...rest, accountName });
        await endOwnSession(parts, actor);
        set.headers["set-cookie"] = [...cookies];
        return { person: printPerson(person) };
      },
      {
        summary: "Create a person, by invitation where sign-up is not open",
        isPublic: true,
        body: t.Object({
          name: nameField,
          email: emailField,
          password: passwordField,
          account_name: t.Optional(nameField),
          invitation: t.Optional(tokenField),
        }),
        response: t.Object({ person: personShape }),
      },
    )
    .post(
      "/sign-out",
      async ({ set, actor }) => {
        await endOwnSession(parts, actor);
        set.headers["set-cookie"] = printCookie("", cookieFormOf(parts.settings.publicUrl), 0);
        return { location: (await leaveProvider(parts, actor)) ?? null };
      },
      {
        summary: "End the session, and name where the browser ends it at the provider",
        isPublic: true,
        response: t.Object({ location: t.Nullable(t.String()) }),
      },
    );
}

/** Links that are mailed: for a new password, and for an address that is to be confirmed. */
function mailedTokenRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Sign-in"))
    .post(
      "/password/forgot",
      async ({ request, body }) => {
        await orderPasswordReset(parts.credentials, visitorOf(request), body.email);
        return {};
      },
      {
        summary: "Mail a link to choose a new password",
        isPublic: true,
        body: t.Object({ email: emailField }),
        response: nothing,
      },
    )
    .post(
      "/password/reset",
      async ({ request, body }) => {
        await resetPassword(parts.credentials, visitorOf(request), body);
        return {};
      },
      {
        summary: "Choose a new password by the token of a mail",
        isPublic: true,
        body: t.Object({ token: tokenField, password: passwordField }),
        response: nothing,
      },
    )
    .post(
      "/email/verify",
      async ({ request, body }) => {
        await verifyEmail(parts.credentials, visitorOf(request), body.token);
        return {};
      },
      {
        summary: "Confirm an e-mail address by the token of a mail",
        isPublic: true,
        body: t.Object({ token: tokenField }),
        response: nothing,
      },
    );
}

/** Counts a sign-in by its result, and passes the result on. */
export async function countSignIn<Result>(
  metrics: SignInMetrics,
  signingIn: Promise<Result>,
): Promise<Result> {
  try {
    const signedIn = await signingIn;
    metrics.signedIn("accepted");
    return signedIn;
  } catch (thrown) {
    const cause = thrown instanceof GatewayError ? thrown.kind : undefined;
    metrics.signedIn((cause && SIGN_IN_RESULTS[cause]) ?? "failed");
    throw thrown;
  }
}

const SIGN_IN_RESULTS: Partial<Record<Cause, SignInResult>> = {
  wrong_password: "wrong",
  code_needed: "code_needed",
  sign_in_throttled: "throttled",
};

function printSetup({ settings }: Parts) {
  const { providers, requiresProvider } = settings.signIn ?? NO_SIGN_IN_RULES;
  return {
    sign_up: settings.signUp,
    has_mail: settings.mail !== undefined,
    has_payments: settings.stripe !== undefined,
    public_url: settings.publicUrl,
    version: VERSION,
    demo_only: settings.isDemoOnly,
    providers: providers.map(({ id, name }) => ({ id, name })),
    passwords: !requiresProvider,
    passkeys: !requiresProvider && hasPasskeys(settings.publicUrl),
  };
}

async function endOwnSession({ database, now }: Parts, actor: Actor | undefined): Promise<void> {
  if (!actor?.session) return;
  await endSession(database, { actor, personId: actor.id, sessionId: actor.session.id }, now());
}
