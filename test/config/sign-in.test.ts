import { expect, test } from "bun:test";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const ENTRY = "name: Main, issuer: https://login.example.com, client_id: tollgate";

function signInOf(entry: string, rest = ""): string {
  return `console:\n  sign_in:\n    oidc:\n      main: { ${entry} }\n${rest}`;
}

test("a provider has defaults: three scopes, twelve hours, and a stated time as its proof", () => {
  expect(loadYaml(signInOf(ENTRY)).signIn).toEqual({
    providers: [
      {
        id: "main",
        name: "Main",
        issuer: "https://login.example.com",
        clientId: "tollgate",
        clientSecret: undefined,
        scopes: ["openid", "email", "profile"],
        groupsClaim: undefined,
        rights: [],
        domains: undefined,
        sessionMs: 12 * 3_600_000,
        rightsMs: undefined,
        confirmBy: "auth_time",
        rpInitiatedLogout: false,
      },
    ],
    requiresProvider: false,
    secondFactor: "none",
  });
  expect(loadYaml("").signIn?.providers).toEqual([]);
});

test("rights of groups last so many days without a sign-in", () => {
  const { signIn } = loadYaml(signInOf(`${ENTRY}, rights_days: 30`));
  expect(signIn?.providers[0]?.rightsMs).toBe(30 * 86_400_000);
});

test("a sign-out leads on to that of a provider where its entry says so", () => {
  const { signIn } = loadYaml(signInOf(`${ENTRY}, rp_initiated_logout: true`));
  expect(signIn?.providers[0]?.rpInitiatedLogout).toBe(true);
});

test("the scope openid is always asked for", () => {
  const { signIn } = loadYaml(signInOf(`${ENTRY}, scopes: [email]`));
  expect(signIn?.providers[0]?.scopes).toEqual(["openid", "email"]);
});

const MICROSOFT = "https://login.microsoftonline.com/common/v2.0";

test.each([
  ["an issuer without TLS", ENTRY.replace("https", "http"), "issuer"],
  ["an issuer with a query", ENTRY.replace(".com", ".com?a=b"), "issuer"],
  ["every tenant of Microsoft", ENTRY.replace("https://login.example.com", MICROSOFT), "issuer"],
  ["no client", "name: Main, issuer: https://login.example.com", "client_id"],
  ["roles without a claim", `${ENTRY}, roles: [{ group: a, operator: true }]`, "groups_claim"],
  ["a right of nothing", `${ENTRY}, groups_claim: g, roles: [{ group: a }]`, "roles[0]"],
  ["a role nowhere", `${ENTRY}, groups_claim: g, roles: [{ group: a, role: owner }]`, "roles[0]"],
  [
    "two rights in one",
    `${ENTRY}, groups_claim: g, roles: [{ group: a, operator: true, account: b, role: owner }]`,
    "roles[0]",
  ],
  ["a domain with an address", `${ENTRY}, domains: ["@example.com"]`, "domains[0]"],
])("a provider with %s stops the start", (_, entry, key) => {
  expect(placesOf(problemsOf(signInOf(entry)))).toContain(`console.sign_in.oidc.main.${key}`);
});

test("an issuer of this machine may be without TLS", () => {
  const entry = ENTRY.replace("https://login.example.com", "http://localhost:9000/realms/main");
  expect(loadYaml(signInOf(entry)).signIn?.providers).toHaveLength(1);
});

test("a provider is required only where there is one, and its name is part of an address", () => {
  const required = "console: { sign_in: { require_oidc: true } }";
  expect(placesOf(problemsOf(required))).toEqual(["console.sign_in.require_oidc"]);
  expect(placesOf(problemsOf(`console: { sign_in: { oidc: { "a/b": { ${ENTRY} } } } }`))).toEqual([
    'console.sign_in.oidc["a/b"]',
  ]);
});
