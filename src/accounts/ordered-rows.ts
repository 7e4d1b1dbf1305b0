import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { GatewayError } from "../errors.ts";
import { type Place, parsePlace, printPlace, readListOrder } from "./ranked-page.ts";

/** What a list can be ordered by, by the names of its columns. Rows without a value come last. */
export type RowOrders = Readonly<Record<string, { readonly by: SQLWrapper; readonly isText?: true }>>;

interface RowPage {
  readonly orders: RowOrders;
  /** The column that decides between rows of one value. */
  readonly id: SQLWrapper;
  /** "amount", or "-amount" for the largest first. Default: by id. */
  readonly sort?: string | undefined;
  /** Default: the newest id first. */
  readonly isOldestFirst?: boolean | undefined;
  /** The `next` of the page before. */
  readonly token?: string | undefined;
}

/** A row with the text of the value by which it is ordered. */
interface ValuedRow<Row> {
  readonly row: Row;
  readonly value: string;
}

/** The parts of a statement that reads one page of a list, in the database's own order. */
interface OrderedRows {
  readonly value: SQL<string>;
  readonly isAfter: SQL | undefined;
  readonly orderBy: SQL;
  /** Makes the page of rows that were read, one more than its size. */
  pageOf<Row extends { readonly id: string }>(
    rows: readonly ValuedRow<Row>[],
    size: number,
  ): { readonly items: readonly Row[]; readonly next: string | null };
}

/** Orders the rows of a list in the database. Throws `wrong_shape` for an unknown order, and for a token of another one. */
export function orderRows({ orders, id, sort, isOldestFirst = false, token }: RowPage): OrderedRows {
  const order = readListOrder(sort, Object.keys(orders)) ?? { by: undefined, isDescending: !isOldestFirst };
  const column = order.by === undefined ? undefined : orders[order.by];
  const value = column ? expressionOf(column, order.isDescending) : sql`${id}`;
  const place = token === undefined ? undefined : readPlace(token, sort, column);
  const bound = column?.isText ? sql`${place?.value}` : sql`CAST(${place?.value} AS bigint)`;
  const [direction, after] = order.isDescending ? [sql`DESC`, sql`<`] : [sql`ASC`, sql`>`];
  const isAfter = column
    ? sql`(${value}, ${id}) ${after} (${bound}, ${place?.id})`
    : sql`${id} ${after} ${place?.id}`;
  return {
    value: sql<string>`CAST(${value} AS text)`,
    isAfter: place && isAfter,
    orderBy: column ? sql`${value} ${direction}, ${id} ${direction}` : sql`${id} ${direction}`,
    pageOf: (rows, size) => {
      const last = rows.length > size ? rows[size - 1] : undefined;
      const next = last ? printRow(sort, last) : null;
      return { items: rows.slice(0, size).map(({ row }) => row), next };
    },
  };
}

/** Before and after every time and amount. */
const [LEAST, GREATEST] = [-1n, 2n ** 63n - 1n];

function expressionOf({ by, isText }: RowOrders[string], isDescending: boolean): SQL {
  if (isText) return sql`lower(coalesce(${by}, ''))`;
  return sql`coalesce(${by}, CAST(${`${isDescending ? LEAST : GREATEST}`} AS bigint))`;
}

/** Without an order, the id alone. */
function printRow(sort: string | undefined, { row, value }: ValuedRow<{ readonly id: string }>): string {
  return sort === undefined ? row.id : printPlace(sort, { value, id: row.id });
}

const ID = /^[\w-]{1,128}$/;
const WHOLE = /^-1$|^\d{1,19}$/;
const TEXT_MAX = 300;

function readPlace(token: string, sort: string | undefined, column: RowOrders[string] | undefined): Place {
  const place = column ? parsePlace(token, sort) : { value: "", id: token };
  const isValue = !column || (column.isText ? isText(place?.value) : isWhole(place?.value));
  if (!place || !isValue || !ID.test(place.id)) throw new GatewayError("wrong_shape", { path: "page" });
  return place;
}

function isWhole(text = ""): boolean {
  return WHOLE.test(text) && BigInt(text) <= GREATEST;
}

/** PostgreSQL has no text with a NUL. */
function isText(text = ""): boolean {
  return text.length <= TEXT_MAX && text.isWellFormed() && !text.includes("\0");
}
