import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import type { RecordingRules } from "../../domain/recording-rules.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { dropRecordings } from "../../recordings/store.ts";
import { COMMAND_LINE, recordChange } from "../audit-trail.ts";
import { requirePresentRight } from "../people/present-rights.ts";
import type { ApiKey } from "./key.ts";
import { changeRow, type KeyChangeParts, type KeyVersion } from "./key-changes.ts";

const SALT_BYTES = 32;

/** How the bodies of a key's requests are kept from now on. */
export type WantedRecording = Omit<RecordingRules, "salt">;

/**
 * Has the bodies of a key's requests kept until a time, or no longer from now on: what is kept by then stays until its
 * own end. Rejects with `conflict` like `updateKey`, and with `not_permitted` when the author's right has ended.
 */
export async function setRecording(
  parts: KeyChangeParts,
  read: KeyVersion,
  wanted: WantedRecording | undefined,
): Promise<ApiKey> {
  const { now = platform.now } = parts;
  return changeRow(parts, read, {
    action: "key.recording_set",
    columns({ recording }) {
      if (wanted) return { recording: { ...wanted, salt: recording?.salt ?? createSalt() } };
      return { recording: recording && { ...recording, untilMs: Math.min(recording.untilMs, now()) } };
    },
  });
}

/**
 * Deletes the recordings of a key, also of a revoked one. It first replaces the salt of the key, with which all become
 * unreadable at once; a deletion that is killed goes on when it is repeated. Returns how many rows were deleted.
 * Rejects with `unknown_item`, and with `not_permitted` when the author's right has ended.
 */
export async function deleteKeyRecordings(
  { database, now = platform.now, actor = COMMAND_LINE }: KeyChangeParts,
  { id, accountId }: Pick<ApiKey, "id" | "accountId">,
): Promise<number> {
  const { apiKeys } = database.tables;
  await database.transact(async (tx) => {
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner", "developer"] });
    const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id));
    if (row?.accountId !== accountId) throw new GatewayError("unknown_item");
    const recording = row.recording && { ...row.recording, salt: createSalt() };
    // An edit that has read the earlier salt must not write it again.
    const set = { recording, version: sql`${apiKeys.version} + 1` };
    await tx.update(apiKeys).set(set).where(eq(apiKeys.id, id));
    const change = { accountId, action: "key.recordings_deleted", target: id };
    await recordChange(database, tx, actor, change, now());
  });
  return dropRecordings(database, { accountId, keyId: id });
}

/**
 * Deletes the recordings of all keys of an account. It first replaces their salts, so that running requests leave none
 * either.
 */
export async function deleteAccountRecordings(database: Database, accountId: string): Promise<void> {
  const { apiKeys } = database.tables;
  const isOwn = and(eq(apiKeys.accountId, accountId), isNotNull(apiKeys.recording));
  await database.transact(async (tx) => {
    for (const { id, recording } of await tx.select().from(apiKeys).where(isOwn)) {
      const set = { recording: recording && { ...recording, salt: createSalt() } };
      await tx
        .update(apiKeys)
        .set({ ...set, version: sql`${apiKeys.version} + 1` })
        .where(eq(apiKeys.id, id));
    }
  });
  await dropRecordings(database, { accountId });
}

function createSalt(): string {
  return platform.randomBytes(SALT_BYTES).toString("base64");
}
