import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor, Role } from "../../../src/accounts/audit-trail.ts";
import { insertPerson } from "../../../src/accounts/people/people.ts";
import { type ConsoleEntry, createConsole } from "../../../src/http/console/entry.ts";
import { type Need, PERMISSIONS, type Permission } from "../../../src/http/console/permissions.ts";
import { createConsoleApi } from "../../../src/http/console/routes.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { openConsoleOn } from "./open-consoles.ts";

interface Route {
  readonly method: string;
  readonly path: string;
  readonly need: string | undefined;
  readonly isConfirmed: boolean;
}

/** What the guard answers; a handler may still refuse what the guard let through. */
type Verdict = "passed" | "signed out" | "refused" | "not confirmed" | "hidden";

function routesOf(console: TestConsole): readonly Route[] {
  return createConsoleApi(console.parts).routes.map(({ method, path, hooks }) => {
    const detail: Record<string, unknown> = hooks?.detail ?? {};
    return {
      method: String(method),
      path,
      need: typeof detail["x-needs"] === "string" ? detail["x-needs"] : undefined,
      isConfirmed: detail["x-confirmed"] === true,
    };
  });
}

function isNeed(text: string | undefined): text is Need {
  return text !== undefined && text in PERMISSIONS;
}

describe("the roles of the console", () => {
  let console: TestConsole;
  let entry: ConsoleEntry;
  let accountId: string;
  const actors = new Map<string, Actor | undefined>();
  beforeAll(async () => {
    const identify = async (request: Request) => actors.get(request.headers.get("x-test-actor") ?? "");
    console = await openConsoleOn("sqlite", { identify });
    // Bodies that are refused count against one address; their throttle has tests of its own.
    entry = createConsole({ ...console.parts, throttle: (_kind, _attempt, work) => work() });
    ({ id: accountId } = await console.newAccount());
    const other = await console.newAccount();
    const nowMs = Date.now();
    const acting = { accountId, untilMs: nowMs + 3_600_000 };
    for (const role of ["owner", "developer", "viewer"] satisfies Role[]) {
      actors.set(role, await console.newMember(accountId, role));
      actors.set(`${role} of another account`, await console.newMember(other.id, role));
      actors.set(`key of ${role}`, newKey({ role: { accountId, role } }));
      actors.set(`key of another ${role}`, newKey({ role: { accountId: other.id, role } }));
    }
    actors.set("operator", console.newOperator());
    actors.set("acting operator", console.newOperator({ acting }));
    actors.set(
      "operator acting elsewhere",
      console.newOperator({ acting: { ...acting, accountId: other.id } }),
    );
    actors.set("operator who acted", console.newOperator({ acting: { ...acting, untilMs: nowMs - 1 } }));
    actors.set("operator's key", newKey({ isOperator: true }));
    actors.set("nobody", undefined);
    const owner = await console.newMember(accountId, "owner");
    const session = { id: owner.id, mustChangePassword: true, confirmedAtMs: nowMs };
    actors.set("owner with a one-time password", { ...owner, isOperator: true, session });
    const unconfirmed = await console.newMember(accountId, "owner");
    const stale = { id: Bun.randomUUIDv7(), mustChangePassword: false, confirmedAtMs: nowMs - 15 * 60_000 };
    actors.set("owner who was away", { ...unconfirmed, session: stale });
    const early = { ...stale, confirmedAtMs: nowMs + 3_600_000 };
    actors.set("owner before a clock was set back", { ...unconfirmed, session: early });
    for (const actor of actors.values()) if (actor?.session) await storePerson(console, actor);
  });
  afterAll(() => console.stop());

  /** Calls a route with ids that nothing has and an empty body, so that no handler changes anything. */
  async function verdictOf({ method, path }: Route, who: string): Promise<Verdict> {
    const filled = path.replace(":account", accountId).replace(/:\w+/g, Bun.randomUUIDv7());
    const body = method === "GET" ? {} : { body: "{}" };
    const { publicUrl } = console.parts.settings;
    const headers = { origin: publicUrl, "content-type": "application/json", "x-test-actor": who };
    const request = new Request(publicUrl + filled, { method, headers, ...body });
    const response = await entry(request, "192.0.2.1");
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const text = isStream ? "" : await response.text();
    if (isStream) await response.body?.cancel();
    if (response.status === 401 && text.includes('"not_authenticated"')) return "signed out";
    if (response.headers.get("x-tollgate-confirm") === "password") return "not confirmed";
    if (text.includes("This action is not permitted.")) return "refused";
    return path.includes(":account") && response.status === 404 ? "hidden" : "passed";
  }

  function expectedOf({ need, isConfirmed }: Route, who: string): readonly Verdict[] {
    if (!isNeed(need)) throw new Error("A route has no need");
    const permission: Permission = PERMISSIONS[need];
    const actor = actors.get(who);
    if (permission.scope === "public") return ["passed", "refused", "hidden"];
    if (!actor) return ["signed out"];
    if (actor.session?.mustChangePassword && need !== "password") return ["refused"];
    if (permission.scope === "operator" && !actor.isOperator) return ["refused"];
    if (permission.scope === "account") {
      const role = roleOf(who);
      if (!role) return ["hidden"];
      if (!permission.roles.some((each) => each === role)) return ["refused"];
      if (permission.isPrivate && who === "operator's key") return ["refused"];
    }
    const isFresh = actor.kind === "management_key" || !STALE.includes(who);
    if (isConfirmed && !isFresh) return ["not confirmed", "passed"];
    // A management key is no person: what is about the person itself is refused by its handler.
    if (permission.scope === "self") return ["passed", "refused", "hidden"];
    return ["passed", "hidden"];
  }

  test("every route says what its caller must be", () => {
    const silent = routesOf(console).filter(({ need }) => !isNeed(need));
    expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("no answer with a secret is open to an operator who acts inside an account", () => {
    const withSecret = createConsoleApi(console.parts).routes.filter(({ hooks }) =>
      /"(secret|url)":\{[^}]*"type":"string"/.test(JSON.stringify(hooks?.response ?? {})),
    );
    const paths = withSecret.map(({ path }) => path.replace("/console/api/accounts/:account", ""));
    for (const path of ["/keys", "/keys/:key/rotate", "/management-keys", "/links"])
      expect(paths).toContain(path);
    for (const path of ["/notice-rules/:rule/secret"]) expect(paths).toContain(path);
    const open = routesOf(console).filter(({ method, path, need }) => {
      const permission = isNeed(need) ? PERMISSIONS[need] : undefined;
      const isOpen = permission?.scope === "account" && permission.roles.some((role) => role === "acting");
      return isOpen && withSecret.some((each) => each.path === path && each.method === method);
    });
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("every route answers every role as the table of permissions says", async () => {
    const wrong: string[] = [];
    // Whoever left an account has no role in it for the routes that follow.
    const routes = routesOf(console).toSorted((a, b) => Number(isLeave(a)) - Number(isLeave(b)));
    for (const route of routes) {
      for (const who of actors.keys()) {
        const verdict = await verdictOf(route, who);
        const expected = expectedOf(route, who);
        if (!expected.includes(verdict)) {
          wrong.push(`${route.method} ${route.path} as ${who}: ${verdict}, not ${expected.join(" or ")}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test("a route that makes keys, gives rights or moves an operator's money asks for the password again", () => {
    const unguarded = routesOf(console).filter(
      ({ method, path, isConfirmed }) => !isConfirmed && CONFIRMED.includes(`${method} ${path}`),
    );
    expect(unguarded.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });
});

function isLeave({ path }: Route): boolean {
  return path.endsWith("/leave");
}

/** Writes the rows of an actor that the test has made up. */
async function storePerson({ parts: { database } }: TestConsole, actor: Actor): Promise<void> {
  const { tables, transact } = database;
  const { id, isOperator, session } = actor;
  if (!session) return;
  const { mustChangePassword, confirmedAtMs } = session;
  const flags = { emailVerified: true, isOperator, mustChangePassword };
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  await transact(async (tx) => {
    const person = { id, name: "Test", email: `${id}@example.com`, ...flags };
    const isKnown = (await tx.select().from(tables.people).where(eq(tables.people.id, id))).length > 0;
    if (!isKnown) await insertPerson(database, tx, { ...person, passwordHash: "none" }, Date.now());
    await tx
      .insert(tables.sessions)
      .values({
        id: session.id,
        userId: id,
        token: `token of ${session.id}`,
        confirmedAtMs: confirmedAtMs ?? null,
        actingAccountId: actor.acting?.accountId ?? null,
        actingUntilMs: actor.acting?.untilMs ?? null,
        expiresAt,
        createdAt,
        updatedAt: createdAt,
      })
      .onConflictDoNothing();
  });
}

const STALE = ["owner who was away", "owner before a clock was set back"];

const CONFIRMED = [
  "POST /console/api/accounts/:account/keys",
  "POST /console/api/accounts/:account/keys/:key/rotate",
  "POST /console/api/accounts/:account/management-keys",
  "POST /console/api/accounts/:account/invitations",
  "POST /console/api/accounts/:account/invitations/:invitation/resend",
  "PATCH /console/api/accounts/:account/members/:person",
  "POST /console/api/operator/management-keys",
  "POST /console/api/operator/codes",
  "POST /console/api/operator/setup",
  "POST /console/api/operator/setup/proof",
  "POST /console/api/operator/accounts/:id/top-ups",
  "POST /console/api/operator/accounts/:id/corrections",
  "POST /console/api/operator/accounts/:id/refunds",
  "POST /console/api/operator/people/:person/operator",
  "DELETE /console/api/operator/people/:person/sign-in-ways/:way",
];

/** The role of an actor in the account of the test; `undefined` where it must see nothing. */
function roleOf(who: string): Role | "acting" | undefined {
  if (who.includes("another") || who.includes("elsewhere") || who.includes("acted")) return undefined;
  if (who === "operator" || who === "nobody") return undefined;
  if (who === "acting operator") return "acting";
  if (who === "operator's key" || who.startsWith("owner") || who === "key of owner") return "owner";
  return who.includes("developer") ? "developer" : "viewer";
}

function newKey(more: Partial<Actor>): Actor {
  const base = { name: "mk-tg-test", isOperator: false, role: undefined, acting: undefined };
  const rest = { session: undefined, address: "192.0.2.1" };
  return { kind: "management_key", id: Bun.randomUUIDv7(), ...base, ...rest, ...more };
}
