import { LedgerError, type Page, type PageRequest } from "../ledger.ts";

const PAGE_SIZE_MAX = 1_000;
const TOKEN_CHARACTERS_MAX = 4_000;

/** A list that is read page by page, each page from where the one before ended. */
export interface PagedList {
  /** Names the list and its filter: a token of one list opens no other. */
  readonly name: readonly unknown[];
  /** Whether a text can be the position of an item of this list. */
  isPosition(text: string): boolean;
}

/** Where a page begins, and how many rows to ask for: one more than fit, which tells whether another follows. */
export interface PageStart {
  /** The position of the last item of the page before. */
  readonly after: string | undefined;
  readonly rowsMax: number;
}

/** Reads a page request. A token is only believed to name a position. Throws `invalid_query`. */
export function readPage(list: PagedList, { size, token }: PageRequest): PageStart {
  if (!Number.isInteger(size) || size < 1 || size > PAGE_SIZE_MAX) throw new LedgerError("invalid_query");
  return { after: token === undefined ? undefined : readToken(list, token), rowsMax: size + 1 };
}

/** Makes a page of the rows that were asked for. */
export function printPage<Row, Item>(
  list: PagedList,
  { size }: PageRequest,
  { rows, read, positionOf }: PageRows<Row, Item>,
): Page<Item> {
  const items = rows.slice(0, size).map(read);
  const last = items.at(-1);
  const isLast = rows.length <= size || last === undefined;
  return { items, nextToken: isLast ? undefined : printToken(list, positionOf(last)) };
}

export interface PageRows<Row, Item> {
  readonly rows: readonly Row[];
  read(row: Row): Item;
  positionOf(item: Item): string;
}

function printToken(list: PagedList, position: string): string {
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

/** The same in every process, so that a page can be asked of one replica and the next of another. */
function markOf({ name }: PagedList): string {
  return Bun.CryptoHasher.hash("sha256", JSON.stringify(name), "hex").slice(0, 16);
}
