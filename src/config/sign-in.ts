import { type Static, Type } from "@sinclair/typebox";
import { isLoopbackHost } from "../domain/addresses.ts";
import { DAY_MS, HOUR_MS } from "../domain/id-time.ts";
import type { GroupRight, SignInProvider, SignInRules } from "../domain/sign-in-rules.ts";
import type { Path, Problems } from "./problems.ts";
import { Count, Flag, Mapping, OneOf, Text } from "./schema-parts.ts";

const SESSION_HOURS = 12;
const SCOPES: readonly string[] = ["openid", "email", "profile"];

const Right = Mapping({
  group: Text("the name of a group, as the provider sends it"),
  operator: Type.Optional(Type.Literal(true, { description: "true" })),
  account: Type.Optional(Text("the id or the name of an account")),
  role: Type.Optional(OneOf("owner", "developer", "viewer")),
});

const Provider = Mapping({
  name: Type.String({ minLength: 1, maxLength: 40, description: "a name of at most 40 characters" }),
  issuer: Text("the provider's discovery address"),
  client_id: Text("the id of this gateway at the provider"),
  client_secret: Type.Optional(Text("the secret of this gateway at the provider")),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: "^[!#-\\[\\]-~]{1,200}$", description: "a scope" }), {
      maxItems: 20,
      description: "a list of at most 20 scopes",
    }),
  ),
  groups_claim: Type.Optional(Text("the claim that lists groups")),
  roles: Type.Optional(
    Type.Array(Right, { maxItems: 1_000, description: "a list of at most 1000 groups with their rights" }),
  ),
  domains: Type.Optional(
    Type.Array(
      Type.String({
        pattern: "^[a-z\\d.-]{1,253}$",
        description: "a domain in lower case, such as example.com",
      }),
      { minItems: 1, maxItems: 100, description: "a list of 1 to 100 domains" },
    ),
  ),
  session_hours: Type.Optional(Count(1, 336)),
  rights_days: Type.Optional(Count(1, 366)),
  confirm_by: Type.Optional(OneOf("auth_time", "select_account")),
  rp_initiated_logout: Type.Optional(Flag),
});

/** The shape of `console.sign_in`. */
export const SignIn = Mapping({
  oidc: Type.Optional(
    Type.Record(Type.String(), Provider, { maxProperties: 16, description: "a mapping of at most 16 names" }),
  ),
  require_oidc: Type.Optional(Flag),
  require_second_factor: Type.Optional(OneOf("none", "operators", "everyone")),
});

type SignInEntry = Static<typeof SignIn>;
type ProviderEntry = Static<typeof Provider>;

/** Reads the rules of the sign-in of a checked file. */
export function readSignIn({ oidc = {}, ...entry }: SignInEntry = {}): SignInRules {
  return {
    providers: Object.entries(oidc).map(([id, provider]) => readProvider(id, provider)),
    requiresProvider: entry.require_oidc ?? false,
    secondFactor: entry.require_second_factor ?? "none",
  };
}

function readProvider(id: string, entry: ProviderEntry): SignInProvider {
  return {
    id,
    name: entry.name,
    issuer: entry.issuer,
    clientId: entry.client_id,
    clientSecret: entry.client_secret,
    scopes: [...new Set(["openid", ...(entry.scopes ?? SCOPES)])],
    groupsClaim: entry.groups_claim,
    rights: (entry.roles ?? []).flatMap(readRight),
    domains: entry.domains,
    sessionMs: (entry.session_hours ?? SESSION_HOURS) * HOUR_MS,
    rightsMs: entry.rights_days === undefined ? undefined : entry.rights_days * DAY_MS,
    confirmBy: entry.confirm_by ?? "auth_time",
    rpInitiatedLogout: entry.rp_initiated_logout ?? false,
  };
}

function readRight({ group, operator, account, role }: Static<typeof Right>): readonly GroupRight[] {
  if (operator) return [{ group, operator }];
  return account === undefined || role === undefined ? [] : [{ group, account, role }];
}

/** A file as it is before its members fit the schema. */
interface UncheckedSignIn {
  readonly oidc?: Readonly<Record<string, UncheckedProvider | undefined>> | undefined;
  readonly require_oidc?: boolean | undefined;
}

interface UncheckedProvider {
  readonly issuer?: string | undefined;
  readonly groups_claim?: string | undefined;
  readonly roles?: readonly (UncheckedRight | undefined)[] | undefined;
}

interface UncheckedRight {
  readonly operator?: true | undefined;
  readonly account?: string | undefined;
  readonly role?: string | undefined;
}

/** Reports names, issuers and groups that cannot work, and a requirement that no person could meet. */
export function checkSignIn(signIn: UncheckedSignIn = {}, problems: Problems): void {
  const path = ["console", "sign_in"];
  const providers = Object.entries(signIn.oidc ?? {});
  if (signIn.require_oidc && providers.length === 0) {
    problems.add([...path, "require_oidc"], "is set without a provider", "at least one entry of oidc");
  }
  for (const [id, provider = {}] of providers) {
    const at = [...path, "oidc", id];
    if (!/^[a-z\d][a-z\d-]{0,31}$/.test(id)) {
      const expected = "1 to 32 lower-case letters, digits and dashes";
      problems.add(at, "is not a valid name of a provider", expected);
    }
    if (provider.issuer !== undefined) checkIssuer([...at, "issuer"], provider.issuer, problems);
    checkRights(at, provider, problems);
  }
}

/** An issuer without TLS proves nothing of itself: only one of this machine may be. */
function checkIssuer(path: Path, issuer: string, problems: Problems): void {
  const url = URL.parse(issuer);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!url || !isSafe || url.search !== "" || url.hash !== "" || url.username !== "") {
    problems.add(path, "is not the address of an issuer", "https://… without a query");
  } else if (/\/(common|organizations|consumers)(\/|$)/.test(url.pathname) && isMicrosoft(url)) {
    problems.add(path, "admits every tenant of Microsoft", "the address with the id of your own tenant");
  }
}

function isMicrosoft({ hostname }: URL): boolean {
  return /^login\.(microsoftonline|partner\.microsoftonline|chinacloudapi)\./.test(hostname);
}

function checkRights(
  path: Path,
  { roles = [], groups_claim: claim }: UncheckedProvider,
  problems: Problems,
): void {
  if (roles.length > 0 && claim === undefined) {
    problems.add([...path, "groups_claim"], "is missing beside roles", "the claim that lists groups");
  }
  for (const [index, right = {}] of roles.entries()) {
    const isRole = right.account !== undefined && right.role !== undefined;
    const isPart = right.account !== undefined || right.role !== undefined;
    if (right.operator ? !isPart : isRole) continue;
    problems.add([...path, "roles", String(index)], "is no right", "operator: true, or account and role");
  }
}
