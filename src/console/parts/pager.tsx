import { Link } from "@tanstack/react-router";
import styles from "./stack.module.css";

interface PagerProps {
  /** The page in the URL; `undefined` is the first one. */
  readonly page: string | undefined;
  readonly next: string | null;
}

/** Leads to the next page of rows, and back to the first one. The URL holds the page. */
export function Pager({ page, next }: PagerProps) {
  if (next === null && page === undefined) return null;
  return (
    <nav className={styles.pages} aria-label="Pages of rows">
      {page !== undefined && (
        <Link to="." search={(all: object) => ({ ...all, page: undefined }) as never}>
          ← First page
        </Link>
      )}
      {next !== null && (
        <Link to="." search={(all: object) => ({ ...all, page: next }) as never}>
          Next page →
        </Link>
      )}
    </nav>
  );
}
