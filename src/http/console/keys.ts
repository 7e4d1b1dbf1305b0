import { Elysia } from "elysia";
import { listKeys } from "../../accounts/keys.ts";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { createKey, editKey, requireKey, revoke, rotate } from "./key-edits.ts";
import { printBinding, printLimit, readLimits } from "./key-limits.ts";
import {
  accountParams,
  conflictWith,
  issuedKey,
  key,
  keyChangeBody,
  keyList,
  keyPage,
  keyParams,
  newKeyBody,
  simulation,
  simulationBody,
  versionBody,
} from "./key-shapes.ts";
import { viewKey, viewKeys } from "./key-view.ts";
import { type LimitedKey, predictDecline } from "./next-decline.ts";
import { createSimulator } from "./simulate-key.ts";

/** Routes of the API keys of an account. Developers change the keys that they created. */
export function keysRoutes(parts: ConsoleParts) {
  const simulate = createSimulator(parts);
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/keys",
      async ({ account }) => {
        const keys = await listKeys(parts.database, account.id);
        return { items: [...(await viewKeys(parts, account.id, keys))] };
      },
      { needs: "keys.read", params: accountParams, response: keyList },
    )
    .post("/accounts/:account/keys", (context) => createKey(parts, context), {
      needs: "keys.create",
      confirmed: true,
      params: accountParams,
      body: newKeyBody,
      response: issuedKey,
    })
    .get(
      "/accounts/:account/keys/:key",
      async ({ account, params }) => showKey(parts, account, await requireKey(parts, account, params.key)),
      { needs: "keys.read", params: keyParams, response: keyPage },
    )
    .patch(
      "/accounts/:account/keys/:key",
      async (context) => {
        const edited = await editKey(parts, context);
        return "current" in edited ? context.status(409, conflict(edited)) : edited;
      },
      {
        needs: "keys.write",
        params: keyParams,
        body: keyChangeBody,
        response: { 200: key, 409: conflictWith(key) },
      },
    )
    .post(
      "/accounts/:account/keys/:key/rotate",
      async (context) => {
        const rotated = await rotate(parts, context);
        return "current" in rotated ? context.status(409, conflict(rotated)) : rotated;
      },
      {
        needs: "keys.write",
        confirmed: true,
        params: keyParams,
        body: versionBody,
        response: { 200: issuedKey, 409: conflictWith(key) },
      },
    )
    .post("/accounts/:account/keys/:key/revoke", (context) => revoke(parts, context), {
      needs: "keys.write",
      params: keyParams,
      response: key,
    })
    .post(
      "/accounts/:account/keys/:key/simulate",
      async ({ account, params, body }) => simulate(await requireKey(parts, account, params.key), body),
      { needs: "keys.read", params: keyParams, body: simulationBody, response: simulation },
    );
}

async function showKey(
  parts: ConsoleParts,
  account: LimitedKey["account"],
  shown: LimitedKey["key"],
): Promise<typeof keyPage.static> {
  const [view, limits] = await Promise.all([viewKey(parts, shown), readLimits(parts, account, shown)]);
  const [tightest] = limits;
  if (!tightest) throw new Error("A key is bound by its wallet at least");
  return {
    ...view,
    bound_by: printBinding(tightest),
    next_refusal: predictDecline(parts, { account, key: shown, limits }),
    limits: limits.map(printLimit),
  };
}

/** Adds the error of a conflict to the item as it is now. */
function conflict<Item>({ current }: { readonly current: Item }) {
  const { row, publicMessage } = new GatewayError("conflict");
  return { error: { message: publicMessage, type: row.chat[1], code: row.code }, current };
}
