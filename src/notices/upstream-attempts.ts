import { eq, inArray, like, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { AttemptCounts } from "./crossings.ts";

/** Counts since the start of a process, by upstream. */
export type AttemptTotals = ReadonlyMap<string, AttemptCounts>;

const WINDOW_MS = 300_000;
/** Counts that a process has not renewed for this long are those of a process that ended. */
const STALE_MS = 90_000;
const PREFIX = "upstream_attempts:";

interface Sample {
  readonly atMs: number;
  readonly totals: AttemptTotals;
}

/** The attempts of this process in the last five minutes, sampled at each pass. */
export function createAttemptWindow(read: () => AttemptTotals) {
  let samples: readonly Sample[] = [];
  return {
    /** Takes a sample, and returns the difference to the sample of five minutes ago. */
    renew(nowMs: number): AttemptTotals {
      const totals = new Map(read());
      // A sample of the future was taken before the clock was set back.
      const kept = samples.filter(({ atMs }) => atMs <= nowMs);
      const first = Math.max(
        kept.findLastIndex(({ atMs }) => atMs <= nowMs - WINDOW_MS),
        0,
      );
      const oldest = kept[first];
      samples = [...kept.slice(first), { atMs: nowMs, totals }];
      return subtract(totals, oldest?.totals ?? new Map());
    },
  };
}

function subtract(totals: AttemptTotals, before: AttemptTotals): AttemptTotals {
  const differences = [...totals].map(([upstream, { attempts, failed }]) => {
    const { attempts: earlier = 0, failed: failedEarlier = 0 } = before.get(upstream) ?? {};
    return [upstream, { attempts: attempts - earlier, failed: failed - failedEarlier }] as const;
  });
  return new Map(differences.filter(([, { attempts }]) => attempts > 0));
}

/** Publishes the attempts of this process to the others of its database. */
export async function publishAttempts(
  { transact, tables: { sharedValues } }: Database,
  holder: string,
  { atMs, totals }: Sample,
): Promise<void> {
  const upstreams = Object.fromEntries(
    [...totals].map(([name, { attempts, failed }]) => [name, [attempts, failed]]),
  );
  const row = { name: PREFIX + holder, value: JSON.stringify({ at_ms: atMs, upstreams }) };
  await transact(async (tx) => {
    await tx
      .insert(sharedValues)
      .values(row)
      .onConflictDoUpdate({ target: sharedValues.name, set: { value: sql`excluded.value` } });
  });
}

/** Sums what all processes have published lately. Deletes what killed processes have left. */
export async function sumAttempts(
  { db, transact, tables: { sharedValues } }: Database,
  nowMs: number,
): Promise<AttemptTotals> {
  const rows = await db
    .select()
    .from(sharedValues)
    .where(like(sharedValues.name, `${PREFIX}%`));
  const sums = new Map<string, AttemptCounts>();
  const stale: string[] = [];
  for (const { name, value } of rows) {
    // Safe because only `publishAttempts` writes these rows.
    const { at_ms: atMs, upstreams } = JSON.parse(value) as Published;
    if (Math.abs(nowMs - atMs) > STALE_MS) {
      stale.push(name);
      continue;
    }
    for (const [upstream, [attempts, failed]] of Object.entries(upstreams)) {
      const { attempts: others = 0, failed: failedOthers = 0 } = sums.get(upstream) ?? {};
      sums.set(upstream, { attempts: attempts + others, failed: failed + failedOthers });
    }
  }
  if (stale.length > 0) {
    await transact(
      async (tx) => void (await tx.delete(sharedValues).where(inArray(sharedValues.name, stale))),
    );
  }
  return sums;
}

interface Published {
  readonly at_ms: number;
  readonly upstreams: Readonly<Record<string, readonly [attempts: number, failed: number]>>;
}

/** Deletes what a process has published, when it ends. */
export async function withdrawAttempts(
  { transact, tables: { sharedValues } }: Database,
  holder: string,
): Promise<void> {
  await transact(
    async (tx) => void (await tx.delete(sharedValues).where(eq(sharedValues.name, PREFIX + holder))),
  );
}
