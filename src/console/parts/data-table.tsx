import { Link, type LinkProps, Navigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { ApiError } from "../api.ts";
import { withSearch } from "../search.ts";
import { classes } from "./classes.ts";
import styles from "./data-table.module.css";
import { type Asked, ErrorPanel, Skeleton } from "./loaded.tsx";
import stack from "./stack.module.css";

/** Pixels after the text of a header. */
const HEAD_SPACE = 12;

/** One column of a table. */
export interface Column<Row> {
  readonly id: string;
  /** "" above a column of buttons. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the end, in figures of one width. */
  readonly align?: "end";
  readonly isNarrow?: boolean;
  /**
   * Its place on the card of a row, below 640 px: at the top right, on a line of its own, or in its half without
   * its header. Default: in its half, below its header.
   */
  readonly card?: "corner" | "line" | "bare";
  /** The order that the rows have by this column. */
  readonly sorted?: "ascending" | "descending" | undefined;
  /** Asks for the next order. */
  readonly onSort?: () => void;
  /** The order of the first press. Default: the largest number first, texts by the alphabet. */
  readonly first?: "ascending" | "descending";
  /** What `ListTable` orders the rows by; "server" where the server does, by the id of the column. */
  readonly order?: "server" | ((row: Row) => string | number | bigint | null | undefined);
}

/** The query of the rows, whose loading and fault stand in their place; or rows of another one, or of none. */
type Source<Row> =
  | { readonly query: Asked<{ readonly items: readonly Row[] }> }
  | { readonly query?: Asked<unknown>; readonly rows: readonly Row[] | undefined };

export type DataTableProps<Row> = Source<Row> & {
  /** What the rows are, for assistive technology. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The page of a row. The first column's content becomes its link; all of the row can be pressed. */
  readonly rowLink?: (row: Row) => LinkProps | undefined;
  /** Shown instead of the table when there are no rows. */
  readonly empty: ReactNode;
  /** Pages, totals and the like, below the rows. */
  readonly footer?: ReactNode;
  readonly skeletonRows?: number;
  /** Lower rows, for long lists. */
  readonly isDense?: boolean;
};

/** Rows of the server. Scrolls sideways by keyboard too; below 640 px each row becomes a card. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, query, empty, footer, isDense } = props;
  const rows = "rows" in props ? props.rows : props.query.data?.items;
  const region = useRef<HTMLDivElement>(null);
  const { page } = useSearch({ strict: false }) as { readonly page?: string };
  if (query?.error && !query.data) {
    const isRefused = query.error instanceof ApiError && query.error.status === 422;
    // The page of an old or damaged link: the first one takes its place.
    if (isRefused && page !== undefined)
      return <Navigate to="." search={withSearch({ page: undefined })} replace />;
    return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (rows?.length === 0) return empty;
  return (
    <>
      <HiddenColumns of={region} />
      <div
        ref={region}
        className={styles.region}
        role="group"
        tabIndex={0}
        aria-label={caption}
        aria-busy={rows === undefined}
      >
        <table className={classes(styles.table, styles.cards, isDense && styles.dense)}>
          <caption className={stack.unseen}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.id} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>{rows ? <Rows {...props} rows={rows} /> : <Waiting {...props} />}</tbody>
        </table>
      </div>
      {footer && rows && <div className={styles.more}>{footer}</div>}
    </>
  );
}

/** Names the columns that are out of sight, for people who see no scroll bar. */
function HiddenColumns({ of }: { readonly of: RefObject<HTMLDivElement | null> }) {
  const [names, setNames] = useState("");
  useEffect(() => {
    const region = of.current;
    if (!region) return;
    const look = () => setNames(namesBeyond(region));
    const observer = new ResizeObserver(look);
    for (const each of [region, ...region.children]) observer.observe(each);
    region.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      region.removeEventListener("scroll", look);
    };
  }, [of]);
  if (names === "") return null;
  return (
    <p className={styles.hidden} aria-hidden="true">
      Scroll for {names} →
    </p>
  );
}

function namesBeyond(region: HTMLElement): string {
  if (region.scrollWidth <= region.clientWidth + 1) return "";
  const end = region.getBoundingClientRect().right + 1;
  return [...region.querySelectorAll("thead tr > *")]
    .filter((head) => head.getBoundingClientRect().right - HEAD_SPACE > end)
    .map(({ textContent }) => textContent?.replace(/[↑↓]/, "") || "actions")
    .join(", ");
}

function Head<Row>({ column }: { readonly column: Column<Row> }) {
  const { header, align, sorted, onSort } = column;
  const arrow = sorted && <span aria-hidden="true">{sorted === "ascending" ? "↑" : "↓"}</span>;
  if (header === "") return <td />;
  return (
    <th scope="col" className={classes(align === "end" && styles.end)} aria-sort={sorted}>
      {onSort ? (
        <button type="button" className={styles.sort} onClick={onSort}>
          {align === "end" && arrow}
          <span className={styles.sortName}>{header}</span>
          {align !== "end" && arrow}
        </button>
      ) : (
        header
      )}
    </th>
  );
}

type RowsProps<Row> = Pick<DataTableProps<Row>, "columns" | "rowKey" | "rowLink"> & {
  readonly rows: readonly Row[];
};

function Rows<Row>({ columns, rows, rowKey, rowLink }: RowsProps<Row>) {
  return rows.map((row) => {
    const link = rowLink?.(row);
    return (
      <tr key={rowKey(row)} className={classes(link && styles.linked)}>
        {columns.map((column, index) => (
          <td
            key={column.id}
            data-label={column.header}
            data-card={column.card}
            className={classOfCell(column)}
          >
            {link && index === 0 ? (
              <Link {...link} className={styles.link}>
                {wholeName(column.cell(row))}
              </Link>
            ) : (
              wholeName(column.cell(row))
            )}
          </td>
        ))}
      </tr>
    );
  });
}

/** A name with hyphens that a column has room for: "claude-sonnet-4-5-20250929". */
const HYPHENED = /^(?=\S{1,28}$).+-/;

/** Keeps a name with hyphens on one line. Cells that are a text have this. */
export function wholeName(cell: ReactNode): ReactNode {
  return typeof cell === "string" && HYPHENED.test(cell) ? <Whole>{cell}</Whole> : cell;
}

/** A part of a cell that has one line, where rows are no cards. */
export function Whole({ children }: { readonly children: ReactNode }) {
  return <span className={styles.whole}>{children}</span>;
}

/** Two values of one cell, on a line each where one has no room: "claude-sonnet → anthropic". */
export function Pair({ from, to }: { readonly from: ReactNode; readonly to: ReactNode }) {
  return (
    <>
      <Whole>{from}</Whole> <Whole>→ {to}</Whole>
    </>
  );
}

function Waiting<Row>({ columns, skeletonRows = 5 }: DataTableProps<Row>) {
  return Array.from({ length: skeletonRows }, (_, index) => index).map((index) => (
    <tr key={index}>
      {columns.map((column) => (
        <td
          key={column.id}
          data-label={column.header}
          data-card={column.card}
          className={classOfCell(column)}
        >
          <Skeleton />
        </td>
      ))}
    </tr>
  ));
}

function classOfCell<Row>({ align, isNarrow }: Column<Row>): string {
  return classes(align === "end" && styles.end, (isNarrow || align === "end") && styles.nowrap);
}

interface PagerProps {
  readonly next: string | null;
  /** Names the pages by time, for rows that are sorted newest first. */
  readonly isNewestFirst?: boolean;
}

/** Leads to the next page of rows, and back to the first one. The URL holds the page. */
export function Pager({ next, isNewestFirst = false }: PagerProps) {
  const { page } = useSearch({ strict: false }) as { readonly page?: string };
  if (next === null && page === undefined) return null;
  return (
    <nav className={stack.pages} aria-label="Pages of rows">
      {page !== undefined && (
        <Link to="." search={withSearch({ page: undefined })}>
          {isNewestFirst ? "← Newest" : "← First page"}
        </Link>
      )}
      {next !== null && (
        <Link to="." search={withSearch({ page: next })}>
          {isNewestFirst ? "Older →" : "Next page →"}
        </Link>
      )}
    </nav>
  );
}
