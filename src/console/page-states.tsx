import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import type { ErrorComponentProps } from "@tanstack/react-router";
import styles from "./page-states.module.css";
import { ButtonLink } from "./parts/button.tsx";
import { ErrorPanel } from "./parts/error-panel.tsx";
import { PageHeader } from "./parts/page-header.tsx";
import { Skeleton } from "./parts/skeleton.tsx";

/** A page that is being loaded. */
export function Loading() {
  return (
    <div aria-busy="true">
      <Skeleton shape="title" />
      <Skeleton lines={2} />
      <Skeleton shape="block" />
    </div>
  );
}

/** A page that failed. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const queries = useQueryErrorResetBoundary();
  const retry = () => {
    queries.reset();
    reset();
  };
  return <ErrorPanel error={error} onRetry={retry} />;
}

/** Stands alone: no route, and so no frame, belongs to the path. */
export function NotFound() {
  return (
    <main className={styles.page}>
      <PageHeader title="There is no such page" note="The address may be old, or mistyped." />
      <ButtonLink to="/">Go to the overview</ButtonLink>
    </main>
  );
}
