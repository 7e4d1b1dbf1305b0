import { Elysia, status } from "elysia";
import { thirtyDaysFrom } from "../../../accounts/account-list.ts";
import type { Account } from "../../../accounts/accounts.ts";
import type { ApiKey } from "../../../accounts/keys/key.ts";
import { KEY_ORDERS, listKeyPage, listKeysBy } from "../../../accounts/keys/key-list.ts";
import { readListOrder } from "../../../accounts/ranked-page.ts";
import { bindKeys } from "../../../usage/forecast/bound-keys.ts";
import { createSimulator } from "../../../usage/forecast/simulation.ts";
import { readLastUse, sumSpentByKey } from "../../../usage/key-activity.ts";
import { describeConflict } from "../errors.ts";
import { createGuard } from "../guard.ts";
import { conflictWith, listOf } from "../shapes.ts";
import {
  createKey,
  editKey,
  endPrevious,
  type KeyParts,
  readLimits,
  requireKey,
  revoke,
  rotate,
} from "./edits.ts";
import { type KeyView, printBoundKey, printNamedKey, printSimulation } from "./print.ts";
import {
  accountParams,
  issuedKey,
  key,
  keyChangeBody,
  keyList,
  keyPage,
  keyParams,
  keysQuery,
  namedKey,
  newKeyBody,
  simulation,
  simulationBody,
  versionBody,
  viewerQuery,
} from "./shapes.ts";

const editedKey = { 200: key, 409: conflictWith(key) };

/** Routes of the API keys of an account. Developers change the keys that they created. */
export function keysRoutes(parts: KeyParts) {
  return new Elysia().use(allKeysRoutes(parts)).use(oneKeyRoutes(parts));
}

function allKeysRoutes(parts: KeyParts) {
  return new Elysia()
    .use(createGuard(parts, "Keys"))
    .get(
      "/accounts/:account/keys",
      async ({ account, query: { offset_h, ...query } }) => {
        const { items, next } = await listKeys(parts, account.id, query, offset_h);
        const keys = await viewBoundKeys(parts, account, items, offset_h);
        if (query.sort?.endsWith("used")) orderByUse(keys, query.sort === "-used" ? -1 : 1);
        return { items: keys.map(({ limits: _, ...bound }) => bound), next };
      },
      {
        summary: "List the keys",
        needs: "keys.read",
        params: accountParams,
        query: keysQuery,
        response: keyList,
      },
    )
    .get(
      "/accounts/:account/key-names",
      async ({ account }) => ({ items: await nameKeys(parts, account.id) }),
      {
        summary: "List the names and spending limits of all keys",
        needs: "keys.read",
        params: accountParams,
        response: listOf(namedKey),
      },
    )
    .post("/accounts/:account/keys", (context) => createKey(parts, context), {
      summary: "Create a key; its secret is shown once",
      isIdempotent: true,
      needs: "keys.create",
      confirmed: true,
      params: accountParams,
      body: newKeyBody,
      response: issuedKey,
    });
}

function oneKeyRoutes(parts: KeyParts) {
  const simulate = createSimulator(parts);
  return new Elysia()
    .use(createGuard(parts, "Keys"))
    .get(
      "/accounts/:account/keys/:key",
      async ({ account, params, query }) =>
        viewBoundKey(parts, account, await requireKey(parts, account, params.key), query.offset_h),
      {
        summary: "Read a key and the limits that bind it",
        needs: "keys.read",
        params: keyParams,
        query: viewerQuery,
        response: keyPage,
      },
    )
    .patch("/accounts/:account/keys/:key", async (context) => orConflict(await editKey(parts, context)), {
      summary: "Change a key",
      needs: "keys.write",
      params: keyParams,
      body: keyChangeBody,
      response: { 200: key, 409: conflictWith(key) },
    })
    .post(
      "/accounts/:account/keys/:key/rotate",
      async (context) => orConflict(await rotate(parts, context)),
      {
        summary: "Give a key a new secret; the old one ends after 24 hours",
        isIdempotent: true,
        needs: "keys.rotate",
        confirmed: true,
        params: keyParams,
        body: versionBody,
        response: { 200: issuedKey, 409: conflictWith(key) },
      },
    )
    .post(
      "/accounts/:account/keys/:key/end-previous",
      async (context) => orConflict(await endPrevious(parts, context)),
      {
        summary: "End the secret that a rotation replaced",
        needs: "keys.write",
        params: keyParams,
        body: versionBody,
        response: editedKey,
      },
    )
    .post("/accounts/:account/keys/:key/revoke", (context) => revoke(parts, context), {
      summary: "Revoke a key",
      needs: "keys.write",
      params: keyParams,
      response: key,
    })
    .post(
      "/accounts/:account/keys/:key/simulate",
      async ({ account, params, body }) => {
        const simulated = await requireKey(parts, account, params.key);
        return printSimulation(await simulate(simulated, readLimits(body)));
      },
      {
        summary: "Replay the last 7 days of a key against other limits",
        needs: "keys.read",
        params: keyParams,
        body: simulationBody,
        response: simulation,
      },
    );
}

type KeysQuery = Omit<typeof keysQuery.static, "offset_h">;

async function listKeys(
  { database, ledger, now }: KeyParts,
  accountId: string,
  { page: token, q: text, sort, ...wanted }: KeysQuery,
  offsetHours?: number,
) {
  const nowMs = now();
  const list = { accountId, text, token, ...wanted, nowMs };
  const order = readListOrder(sort, KEY_ORDERS);
  if (!order) return listKeyPage(database, list);
  const readFigures = () =>
    order.by === "used"
      ? readLastUse({ ledger, now }, accountId)
      : sumSpentByKey(ledger, { walletId: accountId, fromMs: thirtyDaysFrom(nowMs, offsetHours) });
  return listKeysBy(database, { ...list, order, size: wanted.size ?? PAGE_SIZE, readFigures });
}

/** The most keys of an ordered page, unless the caller asks for fewer. */
const PAGE_SIZE = 200;

/** Orders the keys of a page by the moment, which is known of these alone: those without one are never used. */
function orderByUse(keys: { readonly last_used_at: string | null }[], sign: 1 | -1): void {
  keys.sort((a, b) => sign * (a.last_used_at ?? "").localeCompare(b.last_used_at ?? ""));
}

/** Lists the names of all keys: one read of all spending limits, and nothing for each key. */
async function nameKeys({ database, ledger, now }: KeyParts, accountId: string) {
  const nowMs = now();
  const { items } = await listKeyPage(database, { accountId, nowMs });
  const limits = (await ledger.spendLimits(accountId)).filter(({ limitId, keyId }) => limitId === keyId);
  const limitOf = new Map(limits.map((limit) => [limit.limitId, limit]));
  return items.map((each) => printNamedKey(each, limitOf.get(each.id), nowMs));
}

/** Shows keys of one account with what binds them. */
export async function viewBoundKeys(
  parts: KeyParts,
  account: Account,
  keys: readonly ApiKey[],
  offsetHours?: number,
) {
  const bound = await bindKeys(parts, account, keys, offsetHours);
  const now = { keyLimits: parts.gateway().keyLimits, nowMs: parts.now() };
  return bound.map((each) => printBoundKey(each, now));
}

/** Shows one key with what binds it. */
export async function viewBoundKey(parts: KeyParts, account: Account, each: ApiKey, offsetHours?: number) {
  const [shown] = await viewBoundKeys(parts, account, [each], offsetHours);
  if (!shown) throw new Error("One key has one view");
  return shown;
}

/** Answers 409 with the key as it is now, for an edit of an older version. */
function orConflict<Result extends object>(edited: Result | { readonly current: KeyView }) {
  if (!("current" in edited)) return edited;
  return status(409, { error: describeConflict(), current: edited.current });
}
