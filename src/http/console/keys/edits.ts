import type { Static } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { createOnce } from "../../../accounts/idempotency.ts";
import type { ApiKey } from "../../../accounts/keys/key.ts";
import {
  endPreviousSecret,
  type KeyChanges,
  rotateKey,
  updateKey,
} from "../../../accounts/keys/key-changes.ts";
import { createInherit } from "../../../accounts/keys/key-tree.ts";
import {
  findKey,
  type IssuedKey,
  issueKey,
  type NewKey,
  type OnIssued,
  revokeKey,
} from "../../../accounts/keys/keys.ts";
import type { SpendingLimit } from "../../../accounts/spending-limits.ts";
import { TIERS, type Tier } from "../../../domain/tiers.ts";
import { GatewayError } from "../../../errors.ts";
import { type KeyFacts, newKeyFacts, readFacts } from "../../../usage/forecast/bound-keys.ts";
import type { TriedLimits } from "../../../usage/forecast/simulation.ts";
import { readMs } from "../../../usage/view.ts";
import type { PartsOf } from "../console-parts.ts";
import type { AccountAccess } from "../guard.ts";
import { type KeyView, printKey } from "./print.ts";
import { readSpendingLimit } from "./read-spending-limit.ts";
import type { issuedKey, keyChangeBody, newKeyBody, simulationBody } from "./shapes.ts";

/** What the routes of keys need. */
export type KeyParts = PartsOf<"ledger" | "gateway">;

type IssuedView = Static<typeof issuedKey>;

/** A request that changes a key of an account, as the guard admitted it. */
interface KeyEdit<Body> extends AccountAccess {
  readonly request: Request;
  readonly actor: Actor;
  readonly params: { readonly key: string };
  readonly body: Body;
}

/** Finds a key of an account. Throws `unknown_item`. */
export async function requireKey(
  { database }: KeyParts,
  { id: accountId }: Account,
  keyId: string,
): Promise<ApiKey> {
  const found = await findKey(database, { accountId, keyId });
  const [key] = found ? await createInherit(database)([found]) : [];
  if (!key) throw new GatewayError("unknown_item");
  return key;
}

/** Issues a key, once per `idempotency-key`. */
export async function createKey(
  parts: KeyParts,
  { request, actor, account, body }: Omit<KeyEdit<Static<typeof newKeyBody>>, "params">,
): Promise<IssuedView> {
  const wanted = readNewKey(parts, account.id, body);
  const facts = await newKeyFacts(parts, actor.id, wanted.spendingLimit);
  return createOnce<IssuedView>(parts, { request, body }, actor, async (keep) => {
    const print = ({ key, secret }: IssuedKey) => ({ key: show(parts, key, facts), secret });
    const issued: OnIssued = (tx, created) => keep(tx, print(created));
    return print(await issueKey({ ...parts, actor, issued }, wanted));
  });
}

/** Changes a key; an edit without a change keeps its version. Returns `current` when another edit came first. */
export async function editKey(
  parts: KeyParts,
  { actor, role, account, params, body }: KeyEdit<Static<typeof keyChangeBody>>,
): Promise<KeyView | { readonly current: KeyView }> {
  const key = await requireKey(parts, account, params.key);
  requireOwn(key, { actor, role });
  const changes = readChanges(parts, body, key.models);
  return orCurrent(parts, { account, key }, async () => {
    if (Object.values(changes).every((value) => value === undefined)) {
      if (key.version !== body.version) throw new GatewayError("conflict");
      return viewKey(parts, key);
    }
    const editor = { ...parts, actor, keyLimits: parts.gateway().keyLimits };
    return viewKey(parts, await updateKey(editor, { ...key, version: body.version }, changes));
  });
}

/** Gives a key a new secret, once per `idempotency-key`. Returns `current` when another edit came first. */
export async function rotate(
  parts: KeyParts,
  { request, actor, role, account, params, body }: KeyEdit<{ readonly version: number }>,
): Promise<IssuedView | { readonly current: KeyView }> {
  const key = await requireKey(parts, account, params.key);
  requireOwn(key, { actor, role });
  const facts = (await readFacts(parts, account.id, [key]))(key);
  const print = (rotated: IssuedKey) => ({ key: show(parts, rotated.key, facts), secret: rotated.secret });
  return orCurrent(parts, { account, key }, () =>
    createOnce<IssuedView>(parts, { request, body }, actor, async (keep) => {
      const issued: OnIssued = (tx, rotated) => keep(tx, print(rotated));
      return print(await rotateKey({ ...parts, actor, issued }, { ...key, version: body.version }));
    }),
  );
}

/** Ends the secret that a rotation replaced. Returns `current` when another edit came first. */
export async function endPrevious(
  parts: KeyParts,
  { actor, role, account, params, body }: KeyEdit<{ readonly version: number }>,
): Promise<KeyView | { readonly current: KeyView }> {
  const key = await requireKey(parts, account, params.key);
  requireOwn(key, { actor, role });
  return orCurrent(parts, { account, key }, async () =>
    viewKey(parts, await endPreviousSecret({ ...parts, actor }, { ...key, version: body.version })),
  );
}

/** Revokes a key; a revoked one stays as it is. */
export async function revoke(
  parts: KeyParts,
  { actor, role, account, params }: Omit<KeyEdit<unknown>, "body" | "request">,
): Promise<KeyView> {
  const key = await requireKey(parts, account, params.key);
  requireOwn(key, { actor, role });
  await revokeKey({ ...parts, actor }, key.id);
  return viewKey(parts, await requireKey(parts, account, key.id));
}

/** Reads and prints one key. */
async function viewKey(parts: KeyParts, key: ApiKey): Promise<KeyView> {
  const factsOf = await readFacts(parts, key.accountId, [key]);
  return show(parts, key, factsOf(key));
}

function show({ gateway, now }: KeyParts, key: ApiKey, facts: KeyFacts): KeyView {
  return printKey(key, facts, { keyLimits: gateway().keyLimits, nowMs: now() });
}

/** Developers change the keys that they created. Throws `not_permitted`. */
export function requireOwn(key: ApiKey, { actor, role }: Pick<KeyEdit<unknown>, "actor" | "role">): void {
  if (role === "developer" && key.createdBy !== actor.id) throw new GatewayError("not_permitted");
}

async function orCurrent<Result>(
  parts: KeyParts,
  { account, key }: { readonly account: Account; readonly key: ApiKey },
  edit: () => Promise<Result>,
): Promise<Result | { readonly current: KeyView }> {
  try {
    return await edit();
  } catch (fault) {
    if (!(fault instanceof GatewayError) || fault.kind !== "conflict") throw fault;
    return { current: await viewKey(parts, await requireKey(parts, account, key.id)) };
  }
}

/** Reads the body of a new key. Throws `wrong_shape`, also for an unknown model and an expiry in the past. */
function readNewKey(
  parts: KeyParts,
  accountId: string,
  body: Static<typeof newKeyBody>,
): NewKey & { readonly spendingLimit: SpendingLimit | undefined } {
  const expiresAtMs = readExpiry(body.expires_at) ?? undefined;
  if (expiresAtMs !== undefined && expiresAtMs <= parts.now()) throw wrongShape("expires_at");
  const { spendingLimit, ...limits } = readLimits(body);
  return {
    accountId,
    name: readName(body.name),
    models: readModels(parts, body.models) ?? undefined,
    tiers: readTiers(body.tiers) ?? undefined,
    forbidsPaidTools: body.allows_paid_tools === false,
    allowsClamp: body.allows_clamp,
    allowsChildren: body.allows_children,
    projectId: body.project_id ?? undefined,
    expiresAtMs,
    limits,
    spendingLimit,
  };
}

/** Reads the body of an edit. A key keeps models that the catalog no longer has. Throws `wrong_shape`. */
function readChanges(
  parts: KeyParts,
  body: Static<typeof keyChangeBody>,
  modelsNow: readonly string[] | undefined,
): KeyChanges {
  return {
    name: body.name === undefined ? undefined : readName(body.name),
    models: readModels(parts, body.models, modelsNow),
    tiers: readTiers(body.tiers),
    expiresAtMs: readExpiry(body.expires_at),
    forbidsPaidTools: body.allows_paid_tools === undefined ? undefined : !body.allows_paid_tools,
    allowsClamp: body.allows_clamp,
    allowsChildren: body.allows_children,
    projectId: body.project_id,
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    concurrentRequests: body.concurrent_requests,
    spendingLimit: readSpendingLimit(body.spending_limit),
  };
}

/** Reads the limits of a new key, or those to try on past requests. */
export function readLimits(body: Static<typeof simulationBody>): TriedLimits {
  return {
    requestsPerMinute: body.requests_per_minute ?? undefined,
    tokensPerMinute: body.tokens_per_minute ?? undefined,
    concurrentRequests: body.concurrent_requests ?? undefined,
    spendingLimit: readSpendingLimit(body.spending_limit) ?? undefined,
  };
}

function readName(text: string): string {
  const name = text.trim();
  if (name === "") throw wrongShape("name");
  return name;
}

function readExpiry<Absent extends null | undefined>(text: string | Absent): number | Absent {
  return text ? (readMs(text, "expires_at") as number) : (text as Absent);
}

function readTiers<Absent extends null | undefined>(
  tiers: readonly Tier[] | Absent,
): readonly Tier[] | Absent {
  return tiers && TIERS.filter((tier) => tiers.includes(tier));
}

function readModels<Absent extends null | undefined>(
  parts: KeyParts,
  models: readonly string[] | Absent,
  known: readonly string[] = [],
): readonly string[] | Absent {
  if (!models) return models;
  const { catalog } = parts.gateway();
  const unknown = models.findIndex((model) => !catalog.find(model) && !known.includes(model));
  if (unknown >= 0) throw wrongShape(`models[${unknown}]`);
  return [...new Set(models)];
}

export function wrongShape(path: string): GatewayError {
  return new GatewayError("wrong_shape", { path });
}
