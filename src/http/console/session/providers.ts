import { type Context, Elysia, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { removeFlowCookie } from "../../../accounts/oidc/flows.ts";
import {
  beginAtProvider,
  type Finished,
  finishAtProvider,
  signOutAddress,
} from "../../../accounts/oidc/provider-sign-in.ts";
import { endSession } from "../../../accounts/people/sessions.ts";
import { targetOf } from "../../identity.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { visitorOf } from "../request-context.ts";
import { requireSession } from "./me.ts";

type Parts = PartsOf<"providerSignIns" | "signIns" | "log">;

const providerParams = t.Object({ provider: t.String({ minLength: 1, maxLength: 32 }) });
const location = t.Object({ location: t.String() });
/** Its characters go into a cookie as they are. */
const invitation = t.String({ pattern: "^[\\w-]{43}$" });

/** Routes of the sign-in at OpenID providers. */
export function providersRoutes(parts: Parts) {
  const { providerSignIns } = parts;
  return new Elysia()
    .use(createGuard(parts, "Sign-in"))
    .post(
      "/oidc/:provider",
      async ({ request, params, body, set }) => {
        const wanted = { ...params, ...body, purpose: "sign-in" } as const;
        return answerBegun(set, await beginAtProvider(providerSignIns, visitorOf(request), wanted));
      },
      {
        summary: "Begin a sign-in at a provider of the file",
        isPublic: true,
        params: providerParams,
        body: t.Object({
          next: t.Optional(t.String({ maxLength: 2_048 })),
          invitation: t.Optional(invitation),
        }),
        response: location,
      },
    )
    .get(
      "/oidc/:provider/callback",
      async ({ request, params, set, actor }) => {
        const target = targetOf(request);
        const query = target.includes("?") ? target.slice(target.indexOf("?")) : "";
        const answered = { ...params, query, actor };
        const finished = await finishAtProvider(providerSignIns, visitorOf(request), answered);
        await endEarlier(parts, finished, actor);
        report(parts, finished, params.provider);
        const session = "cookie" in finished && finished.cookie !== undefined ? [finished.cookie] : [];
        set.headers["set-cookie"] = [...session, removeFlowCookie(providerSignIns.publicUrl())];
        set.headers.location = `/console${pageOf(finished)}`;
        set.status = 303;
        return "";
      },
      {
        summary: "Finish a sign-in at a provider, which sends the browser here",
        isPublic: true,
        params: providerParams,
        response: { 303: t.String() },
      },
    )
    .use(ownProvidersRoutes(parts));
}

/** Answers where the browser goes on, with the cookie that binds the provider's answer to it. */
function answerBegun(
  set: Pick<Context["set"], "headers">,
  { location, cookie }: Awaited<ReturnType<typeof beginAtProvider>>,
) {
  set.headers["set-cookie"] = cookie;
  return { location };
}

/** Routes of a signed-in person at providers: another identity, and a new proof. */
function ownProvidersRoutes(parts: Parts) {
  const begin = (
    request: Request,
    actor: Actor,
    wanted: { provider: string; purpose: "link" | "confirm" },
  ) => {
    requireSession(actor);
    const next = NEXT[wanted.purpose];
    return beginAtProvider(parts.providerSignIns, visitorOf(request), { ...wanted, actor, next });
  };
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .post(
      "/me/identities",
      async ({ request, body, actor, set }) => {
        return answerBegun(set, await begin(request, actor, { ...body, purpose: "link" }));
      },
      {
        summary: "Begin to link an identity at a provider",
        needsSession: true,
        confirmed: true,
        body: t.Object({ provider: providerParams.properties.provider }),
        response: location,
      },
    )
    .post(
      "/me/confirm/:provider",
      async ({ request, params, actor, set }) => {
        return answerBegun(set, await begin(request, actor, { ...params, purpose: "confirm" }));
      },
      {
        summary: "Begin a new proof at a provider, for steps that ask for a fresh one",
        needsSession: true,
        params: providerParams,
        response: location,
      },
    );
}

const NEXT = { link: "/profile", confirm: "/confirmed" } as const;

/** Returns where a browser signs out at its provider too. A fault there does not hold up a sign-out here. */
export async function leaveProvider(
  { providerSignIns, log }: Pick<Parts, "providerSignIns" | "log">,
  actor: Actor | undefined,
): Promise<string | undefined> {
  try {
    return actor?.session && (await signOutAddress(providerSignIns, actor.session));
  } catch (fault) {
    log.warn({ reason: reasonOf(fault) }, "sign-out at provider failed");
    return undefined;
  }
}

/** A browser has one session: the earlier one would stay valid without its cookie. */
async function endEarlier(
  { database, now }: Parts,
  finished: Finished,
  actor: Actor | undefined,
): Promise<void> {
  if (!("cookie" in finished) || finished.cookie === undefined || !actor?.session) return;
  await endSession(database, { actor, personId: actor.id, sessionId: actor.session.id }, now());
}

function report({ signIns, log }: Parts, finished: Finished, provider: string): void {
  if ("problem" in finished) {
    signIns.signedIn(finished.problem === "throttled" ? "throttled" : "failed");
    const { problem, fault } = finished;
    log.warn(
      { provider, problem, ...(fault === undefined ? {} : { reason: reasonOf(fault) }) },
      "sign-in at provider failed",
    );
  } else if (finished.purpose === "sign-in") signIns.signedIn("accepted");
}

/** A code of the library or the name of the error: its text may quote what the provider sent. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return "unknown";
  return "code" in fault && typeof fault.code === "string" ? fault.code : fault.name;
}

/** The page to go on to. A problem is named by a word of ours: nothing of the provider's text is shown. */
function pageOf(finished: Finished): string {
  if (!("problem" in finished)) return finished.next;
  const { problem, purpose, next } = finished;
  const query = new URLSearchParams({ problem, ...(purpose === "sign-in" && next !== "/" ? { next } : {}) });
  return `${purpose === "sign-in" ? "/sign-in" : NEXT[purpose]}?${query}`;
}
