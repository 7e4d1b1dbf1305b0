import { Elysia, t } from "elysia";
import {
  beginProof,
  beginRegistration,
  beginSignIn,
  proveByPasskey,
  register,
  removePasskey,
  signInByPasskey,
} from "../../../accounts/passkeys/passkeys.ts";
import { endSession } from "../../../accounts/people/sessions.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { visitorOf } from "../request-context.ts";
import { nothing, oneOf } from "../shapes.ts";
import { requireSession } from "./me.ts";
import { nameField, personShape, printPerson } from "./shapes.ts";
import { countSignIn } from "./sign-in.ts";

type Parts = PartsOf<"passkeys" | "signIns">;

const bytes = t.String({ maxLength: 65_536, pattern: "^[\\w-]*$" });
const attachment = t.Optional(oneOf(["platform", "cross-platform"]));
const common = {
  id: t.String({ minLength: 1, maxLength: 1_400, pattern: "^[\\w-]+$" }),
  rawId: bytes,
  type: t.Literal("public-key"),
  clientExtensionResults: t.Object({}),
  authenticatorAttachment: attachment,
};
/** What the browser answers, as `toJSON` of its credential prints it. */
const assertion = t.Object({
  ...common,
  response: t.Object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: t.Optional(bytes),
  }),
});
const attestation = t.Object({
  ...common,
  response: t.Object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: t.Optional(t.Array(t.String({ maxLength: 32 }), { maxItems: 10 })),
  }),
});
/** What the browser is asked, in the form of `parseRequestOptionsFromJSON`. */
const question = () => t.Object({ options: t.Any() });

/** Routes of passkeys: sign-in, another one, removal, and a new proof. */
export function passkeysRoutes(parts: Parts) {
  return new Elysia().use(signInRoutes(parts)).use(ownRoutes(parts));
}

function signInRoutes(parts: Parts) {
  const { passkeys, database, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Sign-in"))
    .post(
      "/passkey/options",
      async ({ request }) => ({ options: await beginSignIn(passkeys, visitorOf(request)) }),
      { summary: "Begin a sign-in by a passkey", isPublic: true, response: question() },
    )
    .post(
      "/passkey/sign-in",
      async ({ request, body, set, actor }) => {
        const signingIn = signInByPasskey(passkeys, visitorOf(request), body.response);
        const { person, cookie } = await countSignIn(parts.signIns, signingIn);
        if (actor?.session) {
          await endSession(database, { actor, personId: actor.id, sessionId: actor.session.id }, now());
        }
        set.headers["set-cookie"] = [cookie];
        return { person: printPerson(person), must_change_password: person.mustChangePassword };
      },
      {
        summary: "Sign in by a passkey",
        isPublic: true,
        body: t.Object({ response: assertion }),
        response: t.Object({ person: personShape, must_change_password: t.Boolean() }),
      },
    );
}

function ownRoutes(parts: Parts) {
  const { passkeys } = parts;
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .post(
      "/me/passkeys/options",
      async ({ actor }) => {
        requireSession(actor);
        return { options: await beginRegistration(passkeys, actor) };
      },
      { summary: "Begin to register a passkey", needsSession: true, confirmed: true, response: question() },
    )
    .post(
      "/me/passkeys",
      async ({ actor, body }) => {
        requireSession(actor);
        await register(passkeys, actor, body);
        return {};
      },
      {
        summary: "Register a passkey",
        needsSession: true,
        confirmed: true,
        body: t.Object({ name: nameField, response: attestation }),
        response: nothing,
      },
    )
    .delete(
      "/me/passkeys/:passkey",
      async ({ actor, params }) => {
        requireSession(actor);
        await removePasskey(passkeys, actor, params.passkey);
        return {};
      },
      {
        summary: "Remove a passkey",
        needsSession: true,
        confirmed: true,
        params: t.Object({ passkey: t.String({ minLength: 1, maxLength: 1_400 }) }),
        response: nothing,
      },
    )
    .post(
      "/me/confirm-passkey/options",
      async ({ actor }) => {
        requireSession(actor);
        return { options: await beginProof(passkeys, actor) };
      },
      { summary: "Begin a new proof by a passkey", needsPassword: true, response: question() },
    )
    .post(
      "/me/confirm-passkey",
      async ({ request, actor, body }) => {
        requireSession(actor);
        await proveByPasskey(passkeys, visitorOf(request), { actor, response: body.response });
        return {};
      },
      {
        summary: "Give a new proof by a passkey, for steps that ask for a fresh one",
        needsPassword: true,
        body: t.Object({ response: assertion }),
        response: nothing,
      },
    );
}
