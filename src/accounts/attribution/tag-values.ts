import { and, count, eq, lt } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { TenantMemory } from "../../domain/tenant-memory.ts";
import { platform } from "../../platform.ts";

/** The different values of one tag on a UTC day; later ones count as {@link OTHER}. */
const TAG_VALUES_MAX = 1_000;
/** The value that every further value counts as. */
const OTHER = "other";
/** The tags of a day whose values are kept in memory: at most 30 MB, if each has all values in full length. */
const KEPT_MAX = 200;
/** Values of past days are of no use, but for a clock that is set back. */
const KEPT_DAYS = 2;
/** The tags and days of one step of the sweep. */
const STEP_TAGS = 20;

/** Returns what a value of a tag counts as today: itself, or "other". Rejects while the database is away. */
export type CountTagValue = (accountId: string, tagKey: string, value: string) => string | Promise<string>;

interface TagValueParts {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 1,000. */
  readonly valuesMax?: number;
}

interface Tag {
  readonly accountId: string;
  readonly day: number;
  readonly tagKey: string;
}

/** The values of a tag on a day, as this process knows them. */
interface KnownValues {
  readonly values: Set<string>;
  /** Whether there are no others. */
  readonly isFull: boolean;
}

/**
 * Counts the values of tags. The first values of a day are rows, so that they are the same ones in every gateway; each
 * gateway asks for a value once. On PostgreSQL, values that come at one moment may exceed the maximum by a few.
 */
export function createTagValues({
  database,
  now = platform.now,
  valuesMax = TAG_VALUES_MAX,
}: TagValueParts): CountTagValue {
  const known = new TenantMemory<KnownValues>(KEPT_MAX);
  let knownDay = 0;

  const ask = async (name: string, tag: Tag, value: string): Promise<string> => {
    const isStored = await database.transact((tx) => storeValue(database, tx, { tag, value, valuesMax }));
    const found = known.get(tag.accountId, name);
    if (isStored && found) found.values.add(value);
    else {
      const values = await readValues(database, tag);
      known.set(tag.accountId, name, { values, isFull: values.size >= valuesMax });
    }
    return isStored ? value : OTHER;
  };

  return (accountId, tagKey, value) => {
    const day = Math.floor(now() / DAY_MS);
    if (day !== knownDay) known.clear();
    knownDay = day;
    const name = `${day} ${tagKey}`;
    const found = known.get(accountId, name);
    if (found?.values.has(value)) return value;
    if (found?.isFull) return OTHER;
    return ask(name, { accountId, day, tagKey }, value);
  };
}

/**
 * Returns a function that deletes the values of past days, once a day of its process: in each transaction those of one
 * tag, at most 1,000.
 */
export function createTagValueSweep({
  database,
  now,
}: Required<Pick<TagValueParts, "database" | "now">>): () => Promise<void> {
  const { accountId, day, tagKey } = database.tables.tagValues;
  let sweptDay = 0;
  return async () => {
    const today = Math.floor(now() / DAY_MS);
    while (sweptDay !== today) {
      const tags = await database.db
        .select({ accountId, day, tagKey })
        .from(database.tables.tagValues)
        .where(lt(day, today - KEPT_DAYS))
        .groupBy(accountId, day, tagKey)
        .limit(STEP_TAGS);
      for (const tag of tags) {
        await database.transact((tx) => tx.delete(database.tables.tagValues).where(isOfTag(database, tag)));
      }
      if (tags.length < STEP_TAGS) sweptDay = today;
    }
  };
}

function isOfTag({ tables: { tagValues } }: Database, { accountId, day, tagKey }: Tag) {
  return and(eq(tagValues.accountId, accountId), eq(tagValues.day, day), eq(tagValues.tagKey, tagKey));
}

/** Stores a value unless the day has all of its values. Returns whether it is one of them. */
async function storeValue(
  database: Database,
  tx: Db,
  { tag, value, valuesMax }: { readonly tag: Tag; readonly value: string; readonly valuesMax: number },
): Promise<boolean> {
  const { tagValues } = database.tables;
  const [before] = await tx.select({ values: count() }).from(tagValues).where(isOfTag(database, tag));
  if ((before?.values ?? 0) < valuesMax) {
    const row = { ...tag, value };
    await tx.insert(tagValues).values(row).onConflictDoNothing();
    return true;
  }
  const isValue = and(isOfTag(database, tag), eq(tagValues.value, value));
  const rows = await tx.select({ value: tagValues.value }).from(tagValues).where(isValue);
  return rows.length > 0;
}

async function readValues(database: Database, tag: Tag): Promise<Set<string>> {
  const { tagValues } = database.tables;
  const rows = await database.db
    .select({ value: tagValues.value })
    .from(tagValues)
    .where(isOfTag(database, tag));
  return new Set(rows.map(({ value }) => value));
}
