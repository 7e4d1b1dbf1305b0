import { gunzipSync } from "node:zlib";
import { and, between, count, eq, sum } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { deriveKey, type MasterKey, unseal } from "../db/sealing.ts";
import { latestEndMs } from "../domain/recording-rules.ts";
import type { RecordingContent } from "./recording.ts";
import type { StoredRecording } from "./store.ts";

/** Whose recording a key is for. */
interface SealedPlace {
  readonly accountId: string;
  readonly requestId: string;
  /** The salt of the API key, in base64. */
  readonly salt: string;
}

/** Derives the key of one recording from the master key outside of the database and the salt in it: both are needed. */
export function deriveDataKey({ bytes }: MasterKey, { accountId, requestId, salt }: SealedPlace): Uint8Array {
  const info = `tollgate recording 1 ${accountId} ${requestId}`;
  return deriveKey(bytes, { info, salt: Buffer.from(salt, "base64") });
}

interface SealedRecording extends StoredRecording {
  /** The salt of its API key; `undefined` when the key is gone. */
  readonly salt: string | undefined;
}

/**
 * Decrypts a recording. Returns `undefined` where its key of the operator is not configured any more, and for a
 * recording from before the salt of its API key was replaced.
 */
export function openRecording(
  masterKeys: readonly MasterKey[],
  { masterId, accountId, requestId, salt, sealed }: SealedRecording,
): RecordingContent | undefined {
  const master = masterKeys.find(({ id }) => id === masterId);
  if (!master || salt === undefined) return undefined;
  const packed = unseal(deriveDataKey(master, { accountId, requestId, salt }), sealed);
  // Safe because only the recording worker has the key with which the content was encrypted.
  return packed && (JSON.parse(gunzipSync(packed).toString()) as RecordingContent);
}

/** Finds a recording whose time is not over. */
export async function findRecording(
  { db, tables: { recordings } }: Database,
  {
    accountId,
    requestId,
    nowMs,
  }: { readonly accountId: string; readonly requestId: string; readonly nowMs: number },
): Promise<StoredRecording | undefined> {
  const isRow = and(
    eq(recordings.accountId, accountId),
    eq(recordings.requestId, requestId),
    between(recordings.expiresAtMs, nowMs + 1, latestEndMs(nowMs)),
  );
  const [row] = await db.select().from(recordings).where(isRow);
  return row;
}

/** Counts the recordings of a key whose time is not over, with their bytes. */
export async function countRecordings(
  { db, tables: { recordings } }: Database,
  { accountId, keyId, nowMs }: { readonly accountId: string; readonly keyId: string; readonly nowMs: number },
): Promise<{ readonly count: number; readonly bytes: number }> {
  const isOfKey = and(
    eq(recordings.accountId, accountId),
    eq(recordings.keyId, keyId),
    between(recordings.expiresAtMs, nowMs + 1, latestEndMs(nowMs)),
  );
  const [row] = await db
    .select({ count: count(), bytes: sum(recordings.bytes) })
    .from(recordings)
    .where(isOfKey);
  return { count: row?.count ?? 0, bytes: Number(row?.bytes ?? 0) };
}
