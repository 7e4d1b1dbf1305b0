import { Link, useSearch } from "@tanstack/react-router";
import styles from "./requests.module.css";

/** Leads to the next page of rows, and back to the first one. The URL holds the page. */
export function Pages({ next }: { readonly next: string | null }) {
  const { page } = useSearch({ strict: false }) as { readonly page?: string };
  if (next === null && page === undefined) return null;
  return (
    <nav className={styles.pages} aria-label="Pages of rows">
      {page !== undefined && (
        <Link to="." search={(all: object) => ({ ...all, page: undefined }) as never}>
          ← Newest
        </Link>
      )}
      {next !== null && (
        <Link to="." search={(all: object) => ({ ...all, page: next }) as never}>
          Older →
        </Link>
      )}
    </nav>
  );
}
