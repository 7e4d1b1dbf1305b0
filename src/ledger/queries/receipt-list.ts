import { firstIdOf, ID_TIME_MAX, isUuid, timeOf } from "../../domain/id-time.ts";
import { platform } from "../../platform.ts";
import type { Page, PageRequest, Receipt, ReceiptFilter, ReceiptPage } from "../records.ts";
import { intersect, isEmpty, rangeOf, type TimeRange } from "./coverage.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  printToken,
  type Row,
  type RunQuery,
  readPage,
  type Values,
} from "./query.ts";
import { hasSlowCondition, windowsOf } from "./receipt-windows.ts";
import { conditionsOf, readReceipt, receiptColumns } from "./receipts.ts";

/** How long a search by a condition that roll-ups lack takes, before the page ends unfilled. */
const SEARCH_MS = 150;

/** Newest first, by the time in the ids. Reads only hours that have matching receipts, where that is known. */
export function createReceiptList(run: RunQuery, dialect: Dialect) {
  return async (filter: ReceiptFilter, page: PageRequest): Promise<ReceiptPage> => {
    // Rejects an invalid filter before anything is read.
    conditionsOf(filter, createValues(dialect), dialect);
    const list = listOf(filter);
    const { after, rowsMax } = readPage(list, page);
    const { rows, searchedToMs } = await search({ run, dialect, filter, after, rowsMax });
    const found = createPage(list, page, { rows, read: readReceipt, positionOf: positionIn(filter) });
    return endPage(list, found, searchedToMs);
  };
}

/** Adds how far the search came: to the last receipt of a full page, or to where it was stopped. */
function endPage(list: PagedList, found: Page<Receipt>, searchedToMs: number | undefined): ReceiptPage {
  const last = found.items.at(-1);
  if (found.nextToken !== undefined && last) return { ...found, searchedToMs: timeOf(last.holdId) + 1 };
  if (searchedToMs === undefined) return { ...found, searchedToMs };
  return { ...found, nextToken: printToken(list, firstIdOf(searchedToMs)), searchedToMs };
}

interface Search {
  readonly run: RunQuery;
  readonly dialect: Dialect;
  readonly filter: ReceiptFilter;
  readonly after: string | undefined;
  readonly rowsMax: number;
}

interface Found {
  readonly rows: readonly Row[];
  /** The end of the searched time, when the search was stopped before the end of the list. */
  readonly searchedToMs: number | undefined;
}

async function search(given: Search): Promise<Found> {
  const { run, dialect, filter, after, rowsMax } = given;
  const until = after === undefined ? ID_TIME_MAX : timeOf(after);
  const range = intersect(rangeOf(filter), { fromMs: 0, toMs: until + 1 });
  if (isSorted(filter, dialect))
    return { rows: await readWindow(given, range, rowsMax), searchedToMs: undefined };
  const rows: Row[] = [];
  const deadlineMs = platform.monotonicMs() + SEARCH_MS;
  for await (const window of windowsOf({ run, dialect }, filter, { range, rowsMax })) {
    rows.push(...(await readWindow(given, window, rowsMax - rows.length)));
    if (rows.length === rowsMax) break;
    const isLate = hasSlowCondition(filter) && platform.monotonicMs() > deadlineMs;
    if (isLate && window.fromMs > range.fromMs) return { rows, searchedToMs: window.fromMs };
  }
  return { rows, searchedToMs: undefined };
}

/** Whether the primary key has exactly the receipts of a filter, in the order of the list. */
function isSorted(filter: ReceiptFilter, { holdsKey }: Dialect): boolean {
  const { walletId, fromMs: _from, toMs: _to, scopes = [], ...conditions } = filter;
  const hasCondition =
    scopes.length > 0 || Object.values(conditions).some((condition) => condition !== undefined);
  return !hasCondition && (walletId !== undefined) === (holdsKey === "wallet first");
}

async function readWindow(
  { run, dialect, filter, after }: Search,
  window: TimeRange,
  rowsMax: number,
): Promise<readonly Row[]> {
  if (isEmpty(window)) return [];
  const values = createValues(dialect);
  const toMs = window.toMs > ID_TIME_MAX ? undefined : window.toMs;
  const conditions = [...conditionsOf({ ...filter, fromMs: window.fromMs, toMs }, values, dialect)];
  if (after !== undefined) conditions.push(afterPosition(after, values));
  const order = filter.walletId === undefined ? "hold_id DESC, wallet_id DESC" : "hold_id DESC";
  const sql = `SELECT ${receiptColumns(dialect)} FROM holds WHERE ${conditions.join(" AND ")}
    ORDER BY ${order} LIMIT ${values.add(rowsMax)}`;
  return run({ sql, values: values.all });
}

/** A list of one wallet goes on after a hold id, a list of all wallets after a hold id and a wallet. */
function listOf(filter: ReceiptFilter): PagedList {
  const { walletId, fromMs, toMs, keyId, surface, model, upstream, state, outcome, failed, metadata } =
    filter;
  const [scope, ...moreScopes] = filter.scopes ?? [];
  const texts = { walletId, fromMs, toMs, keyId, surface, model, upstream, state, outcome };
  const more = { ...(failed && { failed }), ...(moreScopes.length > 0 && { moreScopes }) };
  return {
    name: ["receipts", { ...texts, metadata, scope, ...more }],
    isPosition,
  };
}

const UUID_LENGTH = 36;

function isPosition(text: string): boolean {
  const isSeparated = text.length === UUID_LENGTH || text[UUID_LENGTH] === " ";
  return isSeparated && isUuid(text.slice(0, UUID_LENGTH)) && isStorable(text);
}

function positionIn({ walletId }: ReceiptFilter) {
  return (receipt: Receipt) =>
    walletId === undefined ? `${receipt.holdId} ${receipt.walletId}` : receipt.holdId;
}

function afterPosition(after: string, values: Values): string {
  const holdId = values.add(after.slice(0, UUID_LENGTH));
  if (after.length === UUID_LENGTH) return `hold_id < ${holdId}`;
  const walletId = values.add(after.slice(UUID_LENGTH + 1));
  return `hold_id <= ${holdId} AND (hold_id < ${holdId} OR wallet_id < ${walletId})`;
}
