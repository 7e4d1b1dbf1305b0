import { isMailAddress } from "../../domain/mail-address.ts";
import { cleanName } from "../../domain/name-characters.ts";
import type { SignInProvider } from "../../domain/sign-in-rules.ts";
import { isMoreThan, type Role } from "../audit-trail.ts";

const GROUPS_MAX = 1_000;
/** The most that OpenID allows. */
const SUBJECT_CHARS_MAX = 255;
const GOOGLE = "https://accounts.google.com";

/** What a provider states of a person, from a checked ID token. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; `undefined` without a plain address. */
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** When the person gave its proof; `undefined` where the provider does not say. */
  readonly provenAtMs: number | undefined;
  /** The domain that the account belongs to at Google, which an address alone does not show. */
  readonly hostedDomain: string | undefined;
}

type Raw = Readonly<Record<string, unknown>>;

/** Whether an ID token lacks the address or the groups, which the provider may give on another request. */
export function needsMore({ groupsClaim }: SignInProvider, raw: Raw): boolean {
  const lacksGroups = groupsClaim !== undefined && readPath(raw, groupsClaim) === undefined;
  return lacksGroups || raw.email === undefined;
}

/** Throws for a subject that no identity can be. */
export function readClaims({ groupsClaim }: SignInProvider, raw: Raw): Claims {
  const email = text(raw.email)?.trim().normalize("NFC").toLowerCase();
  const provenAtS = typeof raw.auth_time === "number" ? raw.auth_time : undefined;
  return {
    issuer: text(raw.iss) ?? "",
    subject: readSubject(raw.sub),
    email: email !== undefined && email.length <= 254 && isMailAddress(email) ? email : undefined,
    isEmailVerified: raw.email_verified === true || raw.email_verified === "true",
    name: cleanName(text(raw.name) ?? text(raw.preferred_username) ?? "") || undefined,
    groups: groupsClaim === undefined ? [] : readGroups(readPath(raw, groupsClaim)),
    provenAtMs: provenAtS === undefined ? undefined : Math.floor(provenAtS) * 1_000,
    hostedDomain: text(raw.hd)?.toLowerCase(),
  };
}

/** Whether the provider's entry admits the address. Google's addresses may be of a domain that does not own them. */
export function isAdmitted({ domains }: SignInProvider, claims: Claims): boolean {
  if (!domains) return true;
  const { email, isEmailVerified, hostedDomain, issuer } = claims;
  const domain = issuer === GOOGLE ? hostedDomain : isEmailVerified ? email?.split("@").at(-1) : undefined;
  return domain !== undefined && domains.includes(domain);
}

/** What groups give: the operator's right, and the highest role in each account, by its id or name. */
export interface GroupRights {
  readonly isOperator: boolean;
  readonly roles: ReadonlyMap<string, Role>;
}

export function findRights({ rights }: SignInProvider, groups: readonly string[]): GroupRights {
  const own = rights.filter(({ group }) => groups.includes(group));
  const roles = new Map<string, Role>();
  for (const right of own) {
    if (!("account" in right)) continue;
    const before = roles.get(right.account);
    if (isMoreThan(right.role, before)) roles.set(right.account, right.role);
  }
  return { isOperator: own.some((right) => "operator" in right), roles };
}

/** Databases store some texts in another form, which could make two people one. */
function readSubject(value: unknown): string {
  const subject = text(value) ?? "";
  const isKept = subject.length <= SUBJECT_CHARS_MAX && subject.isWellFormed() && !/\p{Cc}/u.test(subject);
  if (subject === "" || !isKept) throw new Error("The token has a subject that no identity can be");
  return subject;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads a member by its whole name, or by a path of names: `realm_access.roles`. */
function readPath(raw: Raw, path: string): unknown {
  if (Object.hasOwn(raw, path)) return raw[path];
  let value: unknown = raw;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

function readGroups(value: unknown): readonly string[] {
  const list = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return list.slice(0, GROUPS_MAX).filter((group): group is string => typeof group === "string");
}
