import { and, asc, count, gt, isNull, max, sum } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { platform } from "../platform.ts";
import { type NoticeRule, readRule } from "./rule.ts";

/** Rules that are read at once; the event loop serves requests in between. */
const PAGE = 500;

/** Reads the rules of all accounts that are not paused. `isFull` reads them also when they seem unchanged. */
export type ReadRules = (isFull: boolean) => Promise<readonly NoticeRule[]>;

/**
 * Creates the reader of rules. It reads them again when their number, the sum of their versions or the newest
 * id has changed: every change of a rule raises its version, and ids begin with their time.
 */
export function createRuleReader(database: Database): ReadRules {
  let known: { readonly mark: string; readonly rules: readonly NoticeRule[] } | undefined;
  return async (isFull) => {
    // Before the rules: a change in between is then found by the next call.
    const mark = await readMark(database);
    if (isFull || known?.mark !== mark) known = { mark, rules: await readAll(database) };
    return known.rules;
  };
}

async function readMark({ db, tables: { noticeRules } }: Database): Promise<string> {
  const { id, version } = noticeRules;
  const [row] = await db
    .select({ count: count(), versions: sum(version), newest: max(id) })
    .from(noticeRules);
  return `${row?.count} ${row?.versions} ${row?.newest}`;
}

async function readAll({ db, tables: { noticeRules } }: Database): Promise<readonly NoticeRule[]> {
  const rules: NoticeRule[] = [];
  for (let after = ""; ; ) {
    const page = await db
      .select()
      .from(noticeRules)
      .where(and(gt(noticeRules.id, after), isNull(noticeRules.pausedAtMs)))
      .orderBy(asc(noticeRules.id))
      .limit(PAGE);
    rules.push(...page.map(readRule));
    const last = page.at(-1);
    if (page.length < PAGE || !last) return rules;
    after = last.id;
    // SQLite answers at once: only a timer lets waiting requests run.
    await platform.sleep(0);
  }
}
