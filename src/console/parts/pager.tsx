import { Link, useSearch } from "@tanstack/react-router";
import styles from "./stack.module.css";

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
    <nav className={styles.pages} aria-label="Pages of rows">
      {page !== undefined && (
        <Link to="." search={(all: object) => ({ ...all, page: undefined }) as never}>
          {isNewestFirst ? "← Newest" : "← First page"}
        </Link>
      )}
      {next !== null && (
        <Link to="." search={(all: object) => ({ ...all, page: next }) as never}>
          {isNewestFirst ? "Older →" : "Next page →"}
        </Link>
      )}
    </nav>
  );
}
