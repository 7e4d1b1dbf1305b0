import { and, asc, eq, gt, isNotNull, isNull, lte, or, type SQL } from "drizzle-orm";
import type { Database, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { containsText } from "../contains-text.ts";
import { inOrder, type ListOrder, pageRanked } from "../ranked-page.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./key-row.ts";
import { createInherit } from "./key-tree.ts";

export interface KeyListPage {
  readonly accountId: string;
  /** Part of a name or a hint, in any case. */
  readonly text?: string | undefined;
  /** Default: keys of every state. */
  readonly state?: "active" | "expired" | "revoked" | undefined;
  /** The project of the keys; the account's id for its default one. Default: keys of every project. */
  readonly project?: string | undefined;
  /** The key that made the keys. Default: keys that no key made. */
  readonly parent?: string | undefined;
  /** The `next` of the page before. */
  readonly token?: string | undefined;
  /** Default: all that follow. */
  readonly size?: number | undefined;
  readonly nowMs: number;
}

/** What keys are ordered by: the name, what each has spent, or when it was last used. */
export const KEY_ORDERS = ["name", "spent", "used"] as const;
type KeyOrder = (typeof KEY_ORDERS)[number];

interface RankedKeyPage extends Omit<KeyListPage, "size"> {
  readonly order: ListOrder<KeyOrder>;
  readonly size: number;
  /** What keys are ordered by beside the name, by their ids. */
  readonly readFigures: () => Promise<ReadonlyMap<string, bigint>>;
}

/** Lists a page of the keys of an account by name or by a figure. An account has some hundred keys. */
export async function listKeysBy(
  database: Database,
  { order, token, size, readFigures, ...wanted }: RankedKeyPage,
): Promise<{ readonly items: readonly ApiKey[]; readonly next: string | null }> {
  const [{ items }, figures] = await Promise.all([
    listKeyPage(database, wanted),
    order.by === "name" ? undefined : readFigures(),
  ]);
  const ranked = items.map(({ id, name }) => ({
    id,
    value: figures ? (figures.get(id) ?? 0n) : name.toLowerCase(),
  }));
  const { ids, next } = pageRanked(ranked, { order, token, size });
  return { items: inOrder(ids, items), next };
}

/** Lists a page of the keys of an account, oldest first, as the keys above bind them. Throws `wrong_shape` for a token that is none. */
export async function listKeyPage(
  database: Database,
  { accountId, text, state, project, parent, token, size, nowMs }: KeyListPage,
): Promise<{ readonly items: readonly ApiKey[]; readonly next: string | null }> {
  const { db, tables } = database;
  const { apiKeys } = tables;
  const isWanted = and(
    eq(apiKeys.accountId, accountId),
    containsText([apiKeys.name, apiKeys.hint], text),
    isInState(database, state, nowMs),
    project === undefined ? undefined : isOf(apiKeys.projectId, project === accountId ? undefined : project),
    isOf(apiKeys.parentId, parent),
    isAfter(database, token),
  );
  const query = db.select().from(apiKeys).where(isWanted).orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id));
  // One row more than the page has shows whether another page follows.
  const rows = await (size === undefined ? query : query.limit(size + 1));
  const items = await createInherit(database)(rows.slice(0, size).map(readKey));
  const last = items.at(-1);
  const next = last && items.length < rows.length ? `${last.createdAtMs}.${last.id}` : null;
  return { items, next };
}

function isInState({ tables: { apiKeys } }: Database, state: KeyListPage["state"], nowMs: number) {
  if (state === undefined) return undefined;
  if (state === "revoked") return isNotNull(apiKeys.revokedAtMs);
  const isExpired = lte(apiKeys.expiresAtMs, nowMs);
  const isInForce = or(isNull(apiKeys.expiresAtMs), gt(apiKeys.expiresAtMs, nowMs));
  return and(isNull(apiKeys.revokedAtMs), state === "expired" ? isExpired : isInForce);
}

function isOf(column: Tables["apiKeys"]["projectId" | "parentId"], id: string | undefined): SQL {
  return id === undefined ? isNull(column) : eq(column, id);
}

function isAfter({ tables: { apiKeys } }: Database, token: string | undefined) {
  if (token === undefined) return undefined;
  const [, time, id = ""] = /^(\d{1,15})\.([\w-]{1,128})$/.exec(token) ?? [];
  if (time === undefined) throw new GatewayError("wrong_shape", { path: "page" });
  const { createdAtMs } = apiKeys;
  return or(gt(createdAtMs, Number(time)), and(eq(createdAtMs, Number(time)), gt(apiKeys.id, id)));
}
