import { LedgerError } from "../ledger.ts";
import { PAGE_SIZE_MAX, type Page, type PageRequest } from "../records.ts";

const TOKEN_CHARACTERS_MAX = 4_000;

/** A list that is read page by page, each page from the end of the previous one. */
export interface PagedList {
  /** Identifies the list and its filter. A token of one list is invalid for any other. */
  readonly name: readonly unknown[];
  /** Whether a text can be the position of an item of this list. */
  isPosition(text: string): boolean;
}

export interface PageStart {
  /** The position of the last item of the previous page. */
  readonly after: string | undefined;
  /** The rows to query: one more than the page has, which shows whether another page follows. */
  readonly rowsMax: number;
}

/** Reads a page request. A token is trusted for its position only. Throws `invalid_query`. */
export function readPage(list: PagedList, { size, token }: PageRequest): PageStart {
  if (!Number.isInteger(size) || size < 1 || size > PAGE_SIZE_MAX) throw new LedgerError("invalid_query");
  return { after: token === undefined ? undefined : readToken(list, token), rowsMax: size + 1 };
}

export interface PageRows<Row, Item> {
  readonly rows: readonly Row[];
  read(row: Row): Item;
  positionOf(item: Item): string;
}

/** Makes the page of the rows that were queried. */
export function createPage<Row, Item>(
  list: PagedList,
  { size }: PageRequest,
  { rows, read, positionOf }: PageRows<Row, Item>,
): Page<Item> {
  const items = rows.slice(0, size).map(read);
  const last = items.at(-1);
  const isLast = rows.length <= size || last === undefined;
  return { items, nextToken: isLast ? undefined : printToken(list, positionOf(last)) };
}

/** The token of the page after a position. */
export function printToken(list: PagedList, position: string): string {
  return Buffer.from(`${markOf(list)} ${position}`).toString("base64url");
}

function readToken(list: PagedList, token: string): string {
  const text = token.length <= TOKEN_CHARACTERS_MAX ? Buffer.from(token, "base64url").toString() : "";
  const mark = `${markOf(list)} `;
  const position = text.slice(mark.length);
  const isOurs = text.startsWith(mark) && list.isPosition(position) && printToken(list, position) === token;
  if (!isOurs) throw new LedgerError("invalid_query");
  return position;
}

/** A hash of the list's name. Equal in every process, so that any replica can serve the next page. */
function markOf({ name }: PagedList): string {
  return Bun.CryptoHasher.hash("sha256", JSON.stringify(name), "hex").slice(0, 16);
}
