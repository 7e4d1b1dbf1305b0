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
const token = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");
/** Texts that no member of a query should break on: of numbers, times, patterns, and tokens of pages. */
const ODD_TEXTS = [
  ..."-1 1e400 NaN % _\\' \u202e true kind:id a:b\nc:d name -name -spent -used 2026-13 0001-01".split(" "),
  ..."0000-01-01T00:00:00Z +275760-09-13T00:00:00.000Z 2026-01-01T00:00:00+99:99 9999-12-31T23:59:60Z".split(
    " ",
  ),
  ...["", "9".repeat(40), "x".repeat(900), token("name", "a\0", "b"), token("-spent", "9".repeat(300), "x")],
];
const FAST: Passwords = { hash: async (password) => `hash of ${password}`, verify: async () => true };

interface QueryRoute {
  readonly path: string;
  readonly names: readonly string[];
}

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
      for (const body of [...wholeFor(dialect), ...mutationsOf(route.schema, dialect)]) {
        const status = await send(route, actor, body);
        if (status === 200) reached.add(route.path);
        if (status === 500) broken.push(`${route.method} ${route.path} ${body.slice(0, 120)}`);
      }
    }
    expect(broken).toEqual([]);
    expect(reached.size).toBeGreaterThan(5);
  });

  test("in any member of any query is never an internal error", async () => {
    const routes = createConsoleApi(console.parts).routes.flatMap(({ method, path, hooks }): QueryRoute[] => {
      const names = Object.keys((hooks?.query as TSchema | undefined)?.properties ?? {});
      return method === "GET" && names.length > 0 ? [{ path, names }] : [];
    });
    expect(routes.length).toBeGreaterThan(15);
    const entry = createConsole({ ...partsWithoutCost(), identify: async (request) => byId(request) });
    const broken: string[] = [];
    for (const { path, names } of routes) {
      const filled = path.replace(":account", accountId).replace(/:\w+/g, Bun.randomUUIDv7());
      const actor = path.includes("/operator/") ? actors[1] : actors[0];
      for (const query of names.flatMap((name) =>
        ODD_TEXTS.map((text) => new URLSearchParams({ [name]: text })),
      )) {
        const url = `${console.parts.settings.publicUrl}${filled}?${query}`;
        const headers = { "x-test-actor": actor?.id ?? "" };
        const response = await entry(new Request(url, { headers }), "192.0.2.1");
        if (response.status === 500) broken.push(`${path}?${query}`.slice(0, 160));
        await response.body?.cancel();
      }
    }
    expect(broken).toEqual([]);
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

/** No store is asked about a body that is no object, nor about one that is no JSON. */
function wholeFor(dialect: string): readonly string[] {
  return dialect === "sqlite" ? WHOLE : [];
}

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
