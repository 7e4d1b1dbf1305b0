import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { plural } from "../format.ts";
import { withSearch } from "../search.ts";
import { Button } from "./button.tsx";
import { Copy } from "./code-block.tsx";
import { type Column, DataTable, type DataTableProps } from "./data-table.tsx";
import { SearchField, Select } from "./filters.tsx";
import { NoMatch } from "./loaded.tsx";
import styles from "./stack.module.css";

/** Texts are ordered by the alphabet, numbers and amounts by size. */
type Ordered = string | number | bigint;

interface ListProps<Row> {
  /** Of several lists on a page, the name of this one in the URL's order. */
  readonly name?: string;
  /** What the texts of a row are that a search finds. Without it, the server searches, or nobody. */
  readonly searchBy?: (row: Row) => readonly (string | null | undefined)[];
  /** What the field of the search is called, on the first list of a page: "Name or e-mail". */
  readonly searchLabel?: string;
  /** Filters of the list, before its tools. */
  readonly filters?: ReactNode;
}

/** Fewer rows are read faster than searched. */
const SEARCHED_FROM = 8;

/** A table with search, order and a link to its view, which the URL holds as `q` and `sort`. */
export function ListTable<Row>(props: DataTableProps<Row> & ListProps<Row>) {
  const { name, searchBy, searchLabel, filters, columns, query, empty, ...table } = props;
  const { q, sort } = useSearch({ strict: false }) as { readonly q?: string; readonly sort?: string };
  const setSort = useSort(name);
  const all = "rows" in props ? props.rows : props.query.data?.items;
  const order = readSort(sort, name);
  const rows = all && sortRows(searchRows(all, searchBy, q), columns, order);
  const isSearched = searchLabel !== undefined && (q !== undefined || (all?.length ?? 0) >= SEARCHED_FROM);
  const isShown = Boolean(filters) || isSearched || order !== undefined;
  return (
    <>
      {isShown && (
        <div className={styles.tools}>
          {filters}
          {isSearched && <SearchField name="q" value={q} label={searchLabel} />}
          <SortChoice columns={columns} order={order} onChange={setSort} />
          <ViewLink />
        </div>
      )}
      <p className={styles.unseen} role="status">
        {q !== undefined && rows && `${table.caption}: ${plural(rows.length, "row")}`}
      </p>
      <DataTable
        {...table}
        {...(query && { query })}
        rows={rows}
        columns={columns.map((column) => withOrder(column, { order, setSort, sample: all?.[0] }))}
        empty={all && all.length > 0 ? <NoMatch /> : empty}
      />
    </>
  );
}

interface ButtonColumn<Row> {
  /** The text of each button: "Revoke". */
  readonly text: string;
  /** What screen readers call the button of a row, such as "Revoke the key research". */
  readonly label?: (row: Row) => string;
  readonly isDanger?: boolean;
  /** Whether a row has the button. Default: every row. */
  readonly isShown?: (row: Row) => boolean;
  readonly onPress: (row: Row) => void;
}

/** A last column with one button a row. */
export function buttonColumn<Row>({
  text,
  label,
  isDanger = false,
  isShown = () => true,
  onPress,
}: ButtonColumn<Row>): Column<Row> {
  return {
    id: "button",
    header: "",
    align: "end",
    cell: (row) =>
      isShown(row) && (
        <Button
          size="small"
          look={isDanger ? "danger" : "plain"}
          aria-label={label?.(row)}
          onClick={() => onPress(row)}
        >
          {text}
        </Button>
      ),
  };
}

/** Copies the address of the page, which holds its filters, order and range. Stays beside the filter that it has. */
export function ViewLink({ children }: { readonly children?: ReactNode }) {
  const copy = <Copy icon="link" text={() => location.href} label="Copy the link to this view" />;
  if (!children) return copy;
  return (
    <span className={styles.filters}>
      {children}
      {copy}
    </span>
  );
}

/** The order of the URL: a column, and whether it descends. */
interface Order {
  readonly id: string;
  readonly isDescending: boolean;
}

type SetSort = (order: Order | undefined) => void;

function useSort(name: string | undefined): SetSort {
  const navigate = useNavigate();
  return (order) => {
    const prefix = name === undefined ? "" : `${name}.`;
    const sort = order && `${prefix}${order.isDescending ? "-" : ""}${order.id}`;
    void navigate({
      to: ".",
      search: withSearch({ sort, page: undefined }),
      replace: true,
      resetScroll: false,
    });
  };
}

/** Reads "-spent", or "members.name" of the list of that name. */
export function readSort(sort = "", name: string | undefined): Order | undefined {
  const [, list, minus, id] = /^(?:([a-z]+)\.)?(-?)([a-z\d_]+)$/.exec(sort) ?? [];
  return id === undefined || list !== name ? undefined : { id, isDescending: minus === "-" };
}

interface Ordering<Row> {
  readonly order: Order | undefined;
  readonly setSort: SetSort;
  /** A row, whose value tells whether the largest or the first comes first. */
  readonly sample: Row | undefined;
}

/** A press on a header orders, a second one turns the order around, and a third one ends it. */
function withOrder<Row>(column: Column<Row>, { order, setSort, sample }: Ordering<Row>): Column<Row> {
  const { id, order: by } = column;
  if (by === undefined) return column;
  const first = isLargestFirst(column, sample);
  const isOwn = order?.id === id;
  const next =
    isOwn && order.isDescending !== first ? undefined : { id, isDescending: isOwn ? !first : first };
  return {
    ...column,
    ...(isOwn && { sorted: order.isDescending ? "descending" : "ascending" }),
    onSort: () => setSort(next),
  };
}

function isLargestFirst<Row>({ first, order, align }: Column<Row>, sample: Row | undefined): boolean {
  if (first) return first === "descending";
  if (typeof order !== "function" || sample === undefined) return align === "end";
  const value = order(sample);
  return align === "end" || typeof value === "number" || typeof value === "bigint";
}

interface SortChoiceProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly order: Order | undefined;
  readonly onChange: SetSort;
}

/** The order where rows are cards, which have no headers to press. */
function SortChoice<Row>({ columns, order, onChange }: SortChoiceProps<Row>) {
  const options = columns
    .filter((column) => column.order !== undefined)
    .flatMap(({ id, header }) => [
      { value: id, text: `${header} ↑` },
      { value: `-${id}`, text: `${header} ↓` },
    ]);
  if (options.length === 0) return null;
  return (
    <span className={styles.cardsOnly}>
      <Select
        label="Order"
        value={order ? `${order.isDescending ? "-" : ""}${order.id}` : ""}
        options={[{ value: "", text: "as listed" }, ...options]}
        onChange={(value) => onChange(readSort(value, undefined))}
      />
    </span>
  );
}

/** The rows that have every word of a text, in any case. */
export function searchRows<Row>(
  rows: readonly Row[],
  searchBy: ListProps<Row>["searchBy"],
  text = "",
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!searchBy || words.length === 0) return rows;
  return rows.filter((row) => {
    const texts = searchBy(row).join("\n").toLowerCase();
    return words.every((word) => texts.includes(word));
  });
}

/** The rows by a column; rows of one value keep their order, and rows without one come last. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Pick<Column<Row>, "id" | "order">[],
  order: Order | undefined,
): readonly Row[] {
  const by = columns.find(({ id }) => id === order?.id)?.order;
  if (!order || typeof by !== "function") return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [by(one) ?? null, by(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * compare(a, b);
  });
}

function compare(one: Ordered, other: Ordered): number {
  if (typeof one === "string" || typeof other === "string") {
    return String(one).localeCompare(String(other), undefined, { sensitivity: "base", numeric: true });
  }
  return one < other ? -1 : one > other ? 1 : 0;
}
