import type { SQL } from "bun";
import { isLockFailure } from "./lock-waits.ts";
import { underSchemaLock } from "./migrate.ts";

/** The number of future months that get their partition in advance. */
const MONTHS_AHEAD = 2;

interface Partition {
  readonly name: string;
  /** The least hold id of the month, and of the next month. */
  readonly from: string;
  readonly to: string;
}

/** Short, because every query of holds queues behind a waiting attachment. */
const LOCK_TIMEOUT = "250ms";

/** What may keep requests waiting while a partition is attached: about 0.2 s for each bound. */
interface AttachmentBounds {
  /** The most holds of one month that are moved out of the default partition. */
  readonly movedMax: number;
  /** The most bytes of the default partition, which PostgreSQL reads whole. */
  readonly bytesMax: number;
}
const BOUNDS: AttachmentBounds = { movedMax: 10_000, bytesMax: 32 * 2 ** 20 };

/**
 * Creates the missing partitions of holds, from the month before `atMs` (ids may be a day old) to two months
 * ahead. Holds that the default partition has of such a month, as after a jump of the clock, move. Attaching locks
 * holds briefly; while a long query reads them, the next call retries. Beyond `bounds`, holds stay there.
 */
export async function ensurePartitions(client: SQL, atMs: number, bounds = BOUNDS): Promise<void> {
  for (const partition of await missingOf(client, partitionsAround(atMs))) {
    try {
      // A transaction for each, because it keeps holds locked until its end.
      await underSchemaLock(client, async (locked) => {
        await locked.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
        const [missing] = await missingOf(locked, [partition]);
        if (missing && (await isAttachable(locked, missing, bounds))) await attach(locked, missing);
      });
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
  }
}

function partitionsAround(atMs: number): readonly Partition[] {
  const partitions: Partition[] = [];
  for (let months = -1; months <= MONTHS_AHEAD; months++) {
    const start = monthStart(atMs, months);
    const name = `holds_${start.toISOString().slice(0, 7).replace("-", "_")}`;
    partitions.push({ name, from: leastId(start), to: leastId(monthStart(atMs, months + 1)) });
  }
  return partitions;
}

async function missingOf(client: SQL, wanted: readonly Partition[]): Promise<readonly Partition[]> {
  const there = new Set(await readNames(client));
  return wanted.filter(({ name }) => !there.has(name));
}

async function readNames(client: SQL): Promise<readonly string[]> {
  const rows: readonly { readonly name: string }[] = await client.unsafe(
    "SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'holds'::regclass",
  );
  return rows.map(({ name }) => name);
}

/** The month of a partition of holds, in Unix milliseconds. */
export interface MonthPartition {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Lists the partitions of months. The default partition, which has holds of other months, is left out. */
export async function listPartitions(client: SQL): Promise<readonly MonthPartition[]> {
  return (await readNames(client)).flatMap((name) => {
    const [, year, month] = /^holds_(\d{4})_(\d{2})$/.exec(name) ?? [];
    if (year === undefined) return [];
    const fromMs = Date.UTC(Number(year), Number(month) - 1);
    return [{ name, fromMs, toMs: monthStart(fromMs, 1).getTime() }];
  });
}

async function isAttachable(
  locked: SQL,
  { from, to }: Partition,
  { movedMax, bytesMax }: AttachmentBounds,
): Promise<boolean> {
  const [size] = await locked.unsafe("SELECT pg_relation_size('holds_default') <= $1 AS is_small", [
    bytesMax,
  ]);
  if (!size.is_small) return false;
  const sql = `SELECT 1 FROM holds_default WHERE ${IN_MONTH} LIMIT $3`;
  return (await locked.unsafe(sql, [from, to, movedMax + 1])).length <= movedMax;
}

/**
 * Creates the table, then attaches it: creating it as a partition would keep holds locked for longer. The default
 * partition is locked before its holds move, or else others of the month could follow. The parent is locked first:
 * a statement planned while the holds move would look for them in the default partition alone.
 */
async function attach(locked: SQL, { name, from, to }: Partition): Promise<void> {
  await locked.unsafe(`CREATE TABLE ${name} (LIKE holds INCLUDING ALL) WITH (fillfactor = 80)`);
  await locked.unsafe("LOCK TABLE ONLY holds, holds_default IN ACCESS EXCLUSIVE MODE");
  await locked.unsafe(
    `WITH moved AS (DELETE FROM holds_default WHERE ${IN_MONTH} RETURNING *) INSERT INTO ${name} SELECT * FROM moved`,
    [from, to],
  );
  await locked.unsafe(`ALTER TABLE holds ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

const IN_MONTH = "hold_id >= $1::uuid AND hold_id < $2::uuid";

function monthStart(atMs: number, monthsLater: number): Date {
  const at = new Date(atMs);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater, 1));
}

/** Returns the least UUIDv7 of a time: its first 48 bits are Unix milliseconds. */
function leastId(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
