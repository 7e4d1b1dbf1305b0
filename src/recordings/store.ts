import { and, asc, count, eq, gt, inArray, lte, or, sql, sum } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { isAhead, latestEndMs } from "../domain/recording-rules.ts";
import type { RecordingMetrics, RecordingResult } from "../telemetry/recording-metrics.ts";

/** How many bytes of recordings a database keeps. */
export interface RecordingBounds {
  /** Of each account. */
  readonly accountBytes: number;
  /** Of all accounts: where they have more, those with most share equally what the others leave. */
  readonly totalBytes: number;
}

/** A recording as it is stored. */
export interface StoredRecording {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** Which key of the operator encrypted it. */
  readonly masterId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly sealed: string;
}

interface WriteParts {
  readonly database: Database;
  readonly bounds: RecordingBounds;
  readonly nowMs: number;
}

/** Rows that one transaction deletes: few, so that SQLite's write lock is held for milliseconds. */
const ROWS_PER_STEP = 50;
/** What a row costs beside its text. */
const ROW_BYTES = 256;

/** What came of a recording, how large it is, and how many older ones made room for it. */
interface Written {
  readonly result: Extract<RecordingResult, "stored" | "stopped" | "size">;
  readonly bytes: number;
  readonly dropped: number;
}

/**
 * Stores a recording, unless its key was revoked, records no more, or had its recordings deleted since. Deletes the
 * oldest ones of its account above the bound.
 */
export async function writeRecording(
  { database, bounds, nowMs }: WriteParts,
  { salt, ...row }: StoredRecording & { readonly salt: string },
): Promise<Written> {
  const { transact, tables } = database;
  const bytes = row.sealed.length + ROW_BYTES;
  return transact(async (tx) => {
    // The first lock: deletions of recordings take it too, so that no deletion misses this row.
    const held = await addBytes(database, tx, row.accountId, 0);
    const isKey = and(eq(tables.apiKeys.id, row.keyId), eq(tables.apiKeys.accountId, row.accountId));
    const { recording, revokedAtMs } = tables.apiKeys;
    const [key] = await tx.select({ recording, revokedAtMs }).from(tables.apiKeys).where(isKey);
    const rules = key?.revokedAtMs === null ? key.recording : null;
    if (rules?.salt !== salt || !isAhead(rules.untilMs, nowMs))
      return { result: "stopped", bytes, dropped: 0 };
    const max = Math.min(bounds.accountBytes, await shareOf(database, tx, { ...bounds, added: bytes }));
    if (bytes > max) return { result: "size", bytes, dropped: 0 };
    const dropped = await dropOldest(database, tx, { accountId: row.accountId, bytes: held + bytes - max });
    await tx.insert(tables.recordings).values({ ...row, bytes });
    await addBytes(database, tx, row.accountId, bytes);
    return { result: "stored", bytes, dropped };
  });
}

interface Share {
  readonly totalBytes: number;
  /** What is about to be added. */
  readonly added?: number;
}

/**
 * Returns what one account may keep of all bytes: all of them while there is room. Then accounts with less than an equal
 * share keep it, and the others share what is left. Accounts that keep little take nothing from those with more.
 */
async function shareOf({ tables }: Database, tx: Db, { totalBytes, added = 0 }: Share): Promise<number> {
  const { bytes } = tables.recordingBytes;
  const sums = { accounts: count(), bytes: sum(bytes) };
  const read = (above: number) => tx.select(sums).from(tables.recordingBytes).where(gt(bytes, above));
  const [all] = await read(0);
  if (!all || Number(all.bytes ?? 0) + added <= totalBytes) return totalBytes;
  const equal = Math.floor(totalBytes / all.accounts);
  const [large] = await read(equal);
  if (!large || large.accounts === 0) return equal;
  const left = totalBytes - (Number(all.bytes) - Number(large.bytes));
  return Math.floor(left / large.accounts);
}

/** Adds to the bytes of an account and returns them. Locks them until the transaction ends. */
async function addBytes({ tables }: Database, tx: Db, accountId: string, bytes: number): Promise<number> {
  const { recordingBytes } = tables;
  const added = sql<number>`${recordingBytes.bytes} + ${bytes}`;
  const [row] = await tx
    .insert(recordingBytes)
    .values({ accountId, bytes: Math.max(0, bytes) })
    .onConflictDoUpdate({ target: recordingBytes.accountId, set: { bytes: added } })
    .returning({ bytes: recordingBytes.bytes });
  return row?.bytes ?? 0;
}

/** Deletes the oldest recordings of an account until so many bytes are free, or none is left. Returns how many. */
async function dropOldest(
  database: Database,
  tx: Db,
  { accountId, bytes }: { readonly accountId: string; readonly bytes: number },
): Promise<number> {
  const { recordings } = database.tables;
  let total = 0;
  for (let left = bytes; left > 0; ) {
    const rows = await tx
      .select({ requestId: recordings.requestId, bytes: recordings.bytes })
      .from(recordings)
      .where(eq(recordings.accountId, accountId))
      .orderBy(asc(recordings.requestId))
      .limit(ROWS_PER_STEP);
    if (rows.length === 0) break;
    const dropped: string[] = [];
    for (const row of rows) {
      if (left <= 0) break;
      left -= row.bytes;
      dropped.push(row.requestId);
    }
    total += await dropRows(database, tx, { accountId, requestIds: dropped });
  }
  return total;
}

interface Dropped {
  readonly accountId: string;
  readonly requestIds: readonly string[];
}

/** Deletes recordings of an account, and returns how many there were. */
async function dropRows(database: Database, tx: Db, { accountId, requestIds }: Dropped): Promise<number> {
  const { recordings } = database.tables;
  const isRow = and(eq(recordings.accountId, accountId), inArray(recordings.requestId, [...requestIds]));
  const rows = await tx.delete(recordings).where(isRow).returning({ bytes: recordings.bytes });
  const freed = rows.reduce((total, { bytes }) => total + bytes, 0);
  if (freed > 0) await addBytes(database, tx, accountId, -freed);
  return rows.length;
}

/** Deletes one recording. Returns whether there was one. Must be the first lock of its transaction. */
export async function dropRecording(
  database: Database,
  tx: Db,
  { accountId, requestId }: { readonly accountId: string; readonly requestId: string },
): Promise<boolean> {
  await addBytes(database, tx, accountId, 0);
  return (await dropRows(database, tx, { accountId, requestIds: [requestId] })) > 0;
}

/**
 * Deletes recordings of an account: all of them, or those of one key. Returns how many. Each step is a transaction, so
 * that a killed deletion goes on with the next one; what is left cannot be read once the salt is replaced.
 */
export async function dropRecordings(
  database: Database,
  { accountId, keyId }: { readonly accountId: string; readonly keyId?: string | undefined },
): Promise<number> {
  const { recordings } = database.tables;
  const isOfKey = keyId === undefined ? undefined : eq(recordings.keyId, keyId);
  let total = 0;
  for (;;) {
    const dropped = await database.transact(async (tx) => {
      await addBytes(database, tx, accountId, 0);
      const rows = await tx
        .select({ requestId: recordings.requestId })
        .from(recordings)
        .where(and(eq(recordings.accountId, accountId), isOfKey))
        .limit(ROWS_PER_STEP);
      if (rows.length === 0) return 0;
      return dropRows(database, tx, { accountId, requestIds: rows.map(({ requestId }) => requestId) });
    });
    total += dropped;
    if (dropped === 0) return total;
  }
}

interface Sweep {
  readonly bounds: RecordingBounds;
  readonly nowMs: number;
  readonly metrics?: Pick<RecordingMetrics, "deleted"> | undefined;
}

/** Deletes recordings whose time is over, and what accounts keep beyond their share. */
export async function sweepRecordings(database: Database, { bounds, nowMs, metrics }: Sweep): Promise<void> {
  const { db, transact, tables } = database;
  const { recordings, recordingBytes } = tables;
  for (;;) {
    const rows = await db
      .select({ accountId: recordings.accountId, requestId: recordings.requestId })
      .from(recordings)
      .where(or(lte(recordings.expiresAtMs, nowMs), gt(recordings.expiresAtMs, latestEndMs(nowMs))))
      .limit(ROWS_PER_STEP);
    if (rows.length === 0) break;
    for (const [accountId, ofAccount] of Map.groupBy(rows, (row) => row.accountId)) {
      const requestIds = ofAccount.map(({ requestId }) => requestId);
      await transact(async (tx) => {
        await addBytes(database, tx, accountId, 0);
        const dropped = await dropRows(database, tx, { accountId, requestIds });
        metrics?.deleted("expired", dropped);
      });
    }
  }
  const [row] = await db.select({ bytes: sum(recordingBytes.bytes) }).from(recordingBytes);
  if (Number(row?.bytes ?? 0) <= bounds.totalBytes) return;
  const share = await shareOf(database, db, bounds);
  const above = await db.select().from(recordingBytes).where(gt(recordingBytes.bytes, share));
  // Each account in a transaction of its own: two sweeps must not lock the same accounts in another order.
  for (const { accountId } of above) {
    await transact(async (tx) => {
      const held = await addBytes(database, tx, accountId, 0);
      const dropped = await dropOldest(database, tx, { accountId, bytes: held - share });
      metrics?.deleted("room", dropped);
    });
  }
}
