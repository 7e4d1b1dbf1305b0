import { Elysia, t } from "elysia";
import type { Actor } from "../../accounts/audit-trail.ts";
import {
  findVisibleAccounts,
  isVisible,
  searchAccounts,
  searchKeys,
  type VisibleAccounts,
} from "../../accounts/find-items.ts";
import { isUuid } from "../../domain/id-time.ts";
import { formatExact } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";
import type { Receipt } from "../../ledger/records.ts";
import { codeOf } from "../../refusals/explain.ts";
import { type FoundRefusal, findRefusal } from "../../refusals/reads.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { writeRefusals } from "./requests/refusals.ts";
import { type Found, findAnswer } from "./requests/shapes.ts";

type Parts = PartsOf<"ledger" | "gateway">;

/** The most results of one kind. */
const KIND_MAX = 5;
/** The accounts of a person whose refused requests are searched. */
const ACCOUNTS_MAX = 20;

export function findRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Accounts"))
    .get("/find", ({ actor, query }) => find(parts, actor, query.q.trim()), {
      summary: "Find keys, models, accounts and request ids",
      detail: { description: "Finds what the caller may see: operators in all accounts, others in theirs." },
      needsSession: true,
      query: t.Object({ q: t.String({ minLength: 1, maxLength: 256, pattern: "^[^\\0]*$" }) }),
      response: findAnswer,
    });
}

/** Finds requests and refusals by their whole id; keys, models and accounts also by a part of their name. */
async function find(parts: Parts, actor: Actor, text: string): Promise<typeof findAnswer.static> {
  if (actor.session?.mustChangePassword) throw new GatewayError("not_permitted");
  if (text === "") return { items: [] };
  const { database, now } = parts;
  const visible = await findVisibleAccounts(database, actor, now());
  const search = { text, limit: KIND_MAX };
  const [requests, keys, accounts] = await Promise.all([
    findRequests(parts, visible, text.toLowerCase()),
    searchKeys(database, visible, search),
    searchAccounts(database, visible, search),
  ]);
  const models = listModels(parts, text);
  return {
    items: [
      ...requests,
      ...keys.map(({ accountId, id, name, hint }) =>
        found("key", { accountId, id, title: `${name} · ${hint}…` }),
      ),
      ...models.map((id) => found("model", { accountId: null, id, title: id })),
      ...accounts.map(({ id, name }) => found("account", { accountId: id, id, title: name })),
    ],
  };
}

async function findRequests(parts: Parts, visible: VisibleAccounts, id: string): Promise<readonly Found[]> {
  const { database, ledger } = parts;
  if (!isUuid(id)) return [];
  const receipts = (await ledger.receiptsById(id)).filter(({ walletId }) => isVisible(visible, walletId));
  if (receipts.length > 0) return receipts.slice(0, KIND_MAX).map(printReceipt);
  const accounts = visible === "all" ? [undefined] : visible.slice(0, ACCOUNTS_MAX);
  await writeRefusals(parts);
  const refusals = await Promise.all(accounts.map((each) => findRefusal(database, id, each)));
  const known = refusals.filter((each) => each !== undefined);
  const exact = known.filter(({ isExact }) => isExact);
  return (exact.length > 0 ? exact : known).slice(0, KIND_MAX).map((each) => printRefusal(each, id));
}

function printReceipt({ walletId, holdId, request, state, captured }: Receipt): Found {
  const cost = state === "held" ? "running" : formatExact(captured);
  return found("request", { accountId: walletId, id: holdId, title: `${request.model} · ${cost}` });
}

function printRefusal({ accountId, row, isExact }: FoundRefusal, id: string): Found {
  const model = row.model === "" ? "" : ` · ${row.model}`;
  const title = `${codeOf(row.cause)}${model}${isExact ? "" : " (probably: another request of its minute)"}`;
  return found("refusal", { accountId, id, title });
}

function listModels({ gateway }: Parts, text: string): readonly string[] {
  const part = text.toLowerCase();
  const ids = gateway()
    .catalog.list()
    .map(({ id }) => id);
  return ids.filter((id) => id.toLowerCase().includes(part)).slice(0, KIND_MAX);
}

function found(
  kind: Found["kind"],
  {
    accountId,
    id,
    title,
  }: { readonly accountId: string | null; readonly id: string; readonly title: string },
): Found {
  return { kind, account_id: accountId, id, title };
}
