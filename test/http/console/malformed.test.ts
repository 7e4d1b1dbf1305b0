import { beforeAll, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import type { Passwords } from "../../../src/accounts/people/passwords.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import { createConsoleApi } from "../../../src/http/console/routes.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { consoleForTests } from "./open-consoles.ts";

/** Values that no member of a body should break on. */
const ODD = [null, -1, 1.5, 1e308, "", "\ud800", "x".repeat(70_000), [], {}, [[[]]], true];
/** Plausible values by the name of a member, where its type alone is refused early. */
const PLAUSIBLE: Readonly<Record<string, unknown>> = {
  amount_usd: "5.00",
  email: "someone@example.com",
  expires_at: "2099-01-01T00:00:00Z",
  from: "2026-01-01T00:00:00Z",
  to: "2026-01-02T00:00:00Z",
  password: "correct horse battery",
  threshold: "5",
};
/** Whole bodies that are no object of the schema, or no JSON. */
const WHOLE = [
  "null",
  "[]",
  '"x"',
  "1",
  "{",
  '{"__proto__":{"a":1}}',
  "[".repeat(20_000),
  "[".repeat(100_000) + "]".repeat(100_000),
  `{"name":"a","email":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
  "\ufeff{}",
  '{"a":1,"a":2}',
];
const FAST: Passwords = { hash: async (password) => `hash of ${password}`, verify: async () => true };

interface BodyRoute {
  readonly method: string;
  readonly path: string;
  readonly schema: TSchema | undefined;
}

describe.each(DIALECTS)("malformed input in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let actors: readonly Actor[];
  let accountId: string;
  beforeAll(async () => {
    ({ id: accountId } = await console.newAccount());
    const { database } = console.parts;
    const operator = await addPerson(database, { isOperator: true });
    await addPerson(database, { isOperator: true });
    actors = [await addMember(database, accountId, "owner"), operator];
    await addMember(database, accountId, "owner");
  });

  /** Throttles and password hashes have tests of their own. */
  function partsWithoutCost() {
    const { credentials, signUps } = console.parts;
    const throttle: TestConsole["parts"]["throttle"] = (_kind, _attempt, work) => work();
    const signUp = { ...signUps, throttle, passwords: FAST, policy: () => "open" as const };
    return { ...console.parts, throttle, credentials: { ...credentials, throttle }, signUps: signUp };
  }

  function routesWithBody(): readonly BodyRoute[] {
    const routes = createConsoleApi(console.parts).routes.map(({ method, path, hooks }) => ({
      method: String(method),
      path,
      schema: hooks?.body as TSchema | undefined,
    }));
    return routes.filter(({ method, path }) => method !== "GET" && !path.endsWith("/stripe/webhook"));
  }

  function createSend() {
    const entry = createConsole({ ...partsWithoutCost(), identify: async (request) => byId(request) });
    return async ({ method, path }: BodyRoute, actor: Actor, body: string) => {
      const filled = path.replace(":account", accountId).replace(/:\w+/g, Bun.randomUUIDv7());
      const { publicUrl } = console.parts.settings;
      const headers = { origin: publicUrl, "content-type": "application/json", "x-test-actor": actor.id };
      const response = await entry(new Request(publicUrl + filled, { method, headers, body }), "192.0.2.1");
      await response.body?.cancel();
      return response.status;
    };
  }

  function byId(request: Request): Actor | undefined {
    return actors.find(({ id }) => id === request.headers.get("x-test-actor"));
  }

  test("in any member of any body is never an internal error", async () => {
    const send = createSend();
    const broken: string[] = [];
    const reached = new Set<string>();
    for (const route of routesWithBody()) {
      const actor = route.path.includes("/operator/") ? actors[1] : actors[0];
      if (!actor) throw new Error("There is no actor");
      for (const body of [...WHOLE, ...mutationsOf(route.schema, dialect)]) {
        const status = await send(route, actor, body);
        if (status === 200) reached.add(route.path);
        if (status === 500) broken.push(`${route.method} ${route.path} ${body.slice(0, 120)}`);
      }
    }
    expect(broken).toEqual([]);
    expect(reached.size).toBeGreaterThan(5);
  });

  test("above 1 MiB is refused with 413 on every route", async () => {
    const send = createSend();
    const body = JSON.stringify({ text: "x".repeat(1024 * 1024) });
    const routes = routesWithBody();
    expect(routes.length).toBeGreaterThan(40);
    const accepted: string[] = [];
    for (const route of routes) {
      const [actor] = actors;
      if (!actor) throw new Error("There is no actor");
      const status = await send(route, actor, body);
      if (status !== 413) accepted.push(`${route.method} ${route.path}: ${status}`);
    }
    expect(accepted).toEqual([]);
  });
});

/**
 * Bodies with one odd member each, and one member that no schema has. Schemas refuse wrong types before a store
 * is asked, so that PostgreSQL needs only odd texts and large numbers.
 */
function mutationsOf(schema: TSchema | undefined, dialect: string): readonly string[] {
  const properties: Record<string, TSchema> = schema?.properties ?? {};
  const base = plausible("", schema ?? ({ type: "object", properties: {} } as unknown as TSchema)) as object;
  const odds = dialect === "sqlite" ? ODD : ODD.filter((each) => ["string", "number"].includes(typeof each));
  const odd = Object.keys(properties).flatMap((name) => odds.map((value) => ({ ...base, [name]: value })));
  return [base, { ...base, unknown_member: 1 }, ...odd].map((body) => JSON.stringify(body));
}

/** A value that a schema likely accepts. */
function plausible(name: string, schema: TSchema): unknown {
  if (name in PLAUSIBLE) return PLAUSIBLE[name];
  const [choice] = (schema.anyOf ?? []) as readonly TSchema[];
  if (choice) return plausible(name, choice);
  if (schema.const !== undefined) return schema.const;
  if (schema.type === "object") {
    const members = Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
    return Object.fromEntries(members.map(([key, each]) => [key, plausible(key, each)]));
  }
  if (schema.type === "array") return [plausible("", schema.items)];
  if (schema.type === "string") return "x".repeat(Math.max(schema.minLength ?? 1, 1));
  if (schema.type === "boolean") return true;
  return schema.type === "null" ? null : (schema.minimum ?? 1);
}
