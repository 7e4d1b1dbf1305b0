import { and, eq } from "drizzle-orm";
import type { Database, DatabaseParts, Db } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type Account, changeAccount } from "../accounts.ts";
import type { AuditActor } from "../audit-trail.ts";

/** How receipts name end users: by the text that was sent, by a hash of it, or not at all. */
export type EndUserNames = "plain" | "hashed" | "off";

/** The most keys of tags that an account declares. */
export const TAG_KEYS_MAX = 20;
/** The key of a tag, as a pattern for schemas. */
export const TAG_KEY_PATTERN = "^[a-z][a-z0-9_.-]{0,31}$";
const TAG_KEY = new RegExp(TAG_KEY_PATTERN);

/** New settings of an account; absent ones stay. */
export interface AttributionEdit {
  readonly endUsers?: EndUserNames | undefined;
  readonly tagKeys?: readonly string[] | undefined;
}

/** The settings of an account, as they are read. */
export interface AttributionSettings {
  readonly endUsers: EndUserNames;
  /** Sorted. */
  readonly tagKeys: readonly string[];
}

export function attributionOf({ endUsers, tagKeys }: Account): AttributionSettings {
  return { endUsers: endUsers ?? "plain", tagKeys: tagKeys ?? [] };
}

/**
 * Changes how requests of an account name whom they are for. Gateways follow within a second; receipts stay as they
 * are. Rejects with `unknown_item`, and with `wrong_shape` for a tag key of another form, or more than 20 of them.
 */
export async function setAttribution(
  parts: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  edit: AttributionEdit,
): Promise<Account> {
  const tagKeys = edit.tagKeys && readTagKeys(edit.tagKeys);
  return changeAccount(parts, actor, accountId, (account) => {
    const before = attributionOf(account);
    const after = { endUsers: edit.endUsers ?? before.endUsers, tagKeys: tagKeys ?? before.tagKeys };
    if (Bun.deepEquals(before, after)) return undefined;
    const columns = {
      endUsers: after.endUsers === "plain" ? null : after.endUsers,
      tagKeys: after.tagKeys.length === 0 ? null : after.tagKeys,
    };
    const entry = {
      accountId,
      action: "account.attribution_changed",
      target: accountId,
      before: printSettings(before),
      after: printSettings(after),
    };
    return { columns, entry };
  });
}

/** Prints settings in the words of the API. */
export function printSettings({ endUsers, tagKeys }: AttributionSettings) {
  return { end_users: endUsers, tag_keys: [...tagKeys] };
}

function readTagKeys(keys: readonly string[]): readonly string[] {
  const tagKeys = [...new Set(keys)].toSorted();
  if (tagKeys.length > TAG_KEYS_MAX || !tagKeys.every((key) => TAG_KEY.test(key))) {
    throw new GatewayError("wrong_shape", { path: "tag_keys" });
  }
  return tagKeys;
}

/**
 * Lets the holds of an account count for project and member, from its first project or limit of one on. Gateways
 * follow within a second.
 */
export async function beginScopes(
  { tables: { accounts } }: Database,
  tx: Db,
  accountId: string,
): Promise<void> {
  const isOff = and(eq(accounts.id, accountId), eq(accounts.hasScopes, false));
  await tx.update(accounts).set({ hasScopes: true }).where(isOff);
}
