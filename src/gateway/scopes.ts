import type { Caller } from "../accounts/keys/key.ts";
import type { Soon } from "../bodies/body.ts";
import { type Nanos, parseUsd } from "../domain/money.ts";
import {
  nameOfEndUser,
  SCOPE_ID_CHARACTERS_MAX,
  type Scope,
  scopeOfRun,
  UNSTORABLE,
} from "../domain/scope.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { readPreferences, rejectHeader } from "./preferences.ts";
import type { Call } from "./request.ts";

/** Whom a request is for, and what it may cost, as its client says. */
export interface Attribution {
  /** The text that was sent; `undefined` without one, and where the account keeps none. */
  readonly endUser: string | undefined;
  readonly tags: readonly Tag[];
  readonly run: Run | undefined;
  readonly costMax: Nanos | undefined;
}

interface Tag {
  readonly key: string;
  readonly value: string;
}

/** A run of an agent. */
interface Run {
  readonly id: string;
  /** Its limit, unless it has one already. */
  readonly amount: Nanos | undefined;
}

/** How receipts name end users of accounts that keep hashes only, and what a tag's value counts as today. */
export interface AttributionNames {
  hashEndUser(accountId: string, endUser: string): Soon<string>;
  /** Returns the value itself, or "other". */
  countTagValue(accountId: string, tagKey: string, value: string): Soon<string>;
}

/** Begins the runs of agents. */
export interface Runs {
  /**
   * Sets the limit of a run that is new to the gateway, unless it has one. Throws `too_many_runs`. Rejects while the
   * ledger or the database is away.
   */
  begin(key: Caller["key"], runId: string, amount: Nanos): Soon<void>;
}

/** The parts that make scopes. */
interface ScopeParts {
  readonly attribution: AttributionNames;
  readonly runs: Runs;
}

/** As much of a request as its attribution depends on. */
interface Attributed {
  readonly call: Pick<Call, "attribution">;
  readonly caller: Caller;
  readonly request: Pick<RequestHead, "endUser">;
}

const TAGS_MAX = 5;
const TAG_VALUE_CHARACTERS_MAX = 64;
const RUN_ID = /^[\w.-]{1,64}$/;
const NO_TAGS: readonly Tag[] = [];

/**
 * Reads whom a request is for, from its headers and its body; `undefined` where neither says it. Throws
 * `wrong_header`, and nothing for a body.
 */
export function readAttribution({ call, caller, request }: Attributed): Attribution | undefined {
  const { attribution: headers } = call;
  if (headers === undefined) {
    if (request.endUser === undefined || caller.endUsers === "off") return undefined;
    return { endUser: request.endUser, tags: NO_TAGS, run: undefined, costMax: undefined };
  }
  if (headers.preferences) readPreferences(headers.preferences);
  const user = headers.user === null ? undefined : readUser(headers.user);
  return {
    endUser: caller.endUsers === "off" ? undefined : (user ?? request.endUser),
    tags: headers.tags === null ? NO_TAGS : readTags(headers.tags, caller),
    run: headers.run === null ? undefined : readRun(headers.run, caller),
    costMax: headers.maxCost === null ? undefined : readAmount(headers.maxCost, "x-tollgate-max-cost-usd"),
  };
}

/**
 * Returns what a hold counts for beside its wallet and key, at once where nothing has to be looked up. Begins the run
 * of the request first. Throws the errors of {@link Runs}.
 */
export function scopesOf(
  parts: ScopeParts,
  caller: Caller,
  attribution: Attribution | undefined,
): Soon<readonly Scope[] | undefined> {
  if (attribution === undefined) return keyScopes(caller);
  const { endUser, tags, run } = attribution;
  if (tags.length === 0 && run === undefined && caller.endUsers === undefined) {
    return withScopes(caller, endUser === undefined ? [] : [endUserScope(nameOfEndUser(endUser))]);
  }
  return findScopes(parts, caller, attribution);
}

function findScopes(
  { attribution: names, runs }: ScopeParts,
  caller: Caller,
  { endUser, tags, run }: Attribution,
): Soon<readonly Scope[] | undefined> {
  const { key, endUsers } = caller;
  const { accountId } = key;
  const found: Soon<Scope>[] = [];
  if (endUser !== undefined) {
    const id = endUsers === "hashed" ? names.hashEndUser(accountId, endUser) : nameOfEndUser(endUser);
    found.push(id instanceof Promise ? id.then(endUserScope) : endUserScope(id));
  }
  for (const { key: tagKey, value } of tags) {
    const counted = names.countTagValue(accountId, tagKey, value);
    const toScope = (id: string): Scope => ({ kind: "tag", id: `${tagKey}=${id}` });
    found.push(counted instanceof Promise ? counted.then(toScope) : toScope(counted));
  }
  if (run) {
    const scope = scopeOfRun({ keyId: key.id, runId: run.id });
    const begun = run.amount === undefined ? undefined : runs.begin(key, run.id, run.amount);
    found.push(begun instanceof Promise ? begun.then(() => scope) : scope);
  }
  const known = found.filter((scope): scope is Scope => !(scope instanceof Promise));
  if (known.length === found.length) return withScopes(caller, known);
  return Promise.all(found).then((scopes) => withScopes(caller, scopes));
}

function withScopes(caller: Caller, found: readonly Scope[]): readonly Scope[] | undefined {
  const scopes = keyScopes(caller);
  if (found.length === 0) return scopes;
  return scopes ? [...scopes, ...found] : found;
}

/** What was read for a caller, which the requests of half a second share. */
interface Known {
  scopes?: readonly Scope[];
  tags?: { readonly header: string; readonly tags: readonly Tag[] };
  run?: { readonly header: string; readonly run: Run };
}

const KNOWN = new WeakMap<Caller, Known>();

function knownOf(caller: Caller): Known {
  const known = KNOWN.get(caller) ?? {};
  KNOWN.set(caller, known);
  return known;
}

/**
 * Returns what each hold of a key counts for: the keys above it, its project and its member. Default project and
 * member are left out until the account has a project, or a limit of one of them.
 */
export function keyScopes(caller: Caller): readonly Scope[] | undefined {
  const { key, hasScopes } = caller;
  if (!hasScopes && key.projectId === undefined && key.parentIds.length === 0) return undefined;
  const known = knownOf(caller);
  known.scopes ??= listScopes(caller);
  return known.scopes;
}

function listScopes({
  key: { accountId, projectId, parentIds },
  hasScopes,
  memberId,
}: Caller): readonly Scope[] {
  const scopes: Scope[] = parentIds.map((id) => ({ kind: "parent_key", id }));
  if (hasScopes || projectId !== undefined) scopes.push({ kind: "project", id: projectId ?? accountId });
  if (hasScopes && memberId !== undefined) scopes.push({ kind: "member", id: memberId });
  return scopes;
}

function endUserScope(id: string): Scope {
  return { kind: "end_user", id };
}

function readUser(header: string): string {
  const user = decode(header);
  return user.length <= SCOPE_ID_CHARACTERS_MAX && isText(user) ? user : rejectHeader("x-tollgate-user");
}

/** Most requests of a caller have the tags of the one before. */
function readTags(header: string, caller: Caller): readonly Tag[] {
  const known = knownOf(caller);
  if (known.tags?.header !== header) known.tags = { header, tags: parseTags(header, caller.tagKeys) };
  return known.tags.tags;
}

function parseTags(header: string, declared: readonly string[] = []): readonly Tag[] {
  const tags = decode(header)
    .split(",", TAGS_MAX + 1)
    .map((text) => readTag(text, declared));
  const isEachOnce = new Set(tags.map(({ key }) => key)).size === tags.length;
  return tags.length <= TAGS_MAX && isEachOnce ? tags : rejectHeader("x-tollgate-tags");
}

function readTag(text: string, declared: readonly string[]): Tag {
  const border = text.indexOf("=");
  const key = text.slice(0, Math.max(border, 0)).trim();
  const value = text.slice(border + 1).trim();
  const isRight = value.length <= TAG_VALUE_CHARACTERS_MAX && isText(value) && declared.includes(key);
  return isRight ? { key, value } : rejectHeader("x-tollgate-tags");
}

function readRun(header: string, caller: Caller): Run {
  const known = knownOf(caller);
  if (known.run?.header !== header) known.run = { header, run: parseRun(header) };
  return known.run.run;
}

function parseRun(header: string): Run {
  const [id = "", limit, ...others] = header.split(";").map((part) => part.trim());
  if (!RUN_ID.test(id) || others.length > 0) rejectHeader("x-tollgate-run");
  if (limit === undefined) return { id, amount: undefined };
  if (!limit.startsWith("max=")) rejectHeader("x-tollgate-run");
  return { id, amount: readAmount(limit.slice("max=".length), "x-tollgate-run") };
}

function readAmount(text: string, header: string): Nanos {
  try {
    return parseUsd(text);
  } catch {
    return rejectHeader(header);
  }
}

const isText = (text: string): boolean => text !== "" && !UNSTORABLE.test(text);

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Headers arrive as Latin-1. Most clients send other characters as UTF-8: a text with its form is one. */
function decode(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  try {
    return UTF8.decode(Buffer.from(header, "latin1"));
  } catch {
    return header;
  }
}
