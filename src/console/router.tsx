import { type QueryClient, useQueryErrorResetBoundary } from "@tanstack/react-query";
import { createRouter, type ErrorComponentProps } from "@tanstack/react-router";
import styles from "./page-states.module.css";
import { ButtonLink } from "./parts/button.tsx";
import { ErrorPanel, Skeleton } from "./parts/loaded.tsx";
import { PageHeader } from "./parts/page-header.tsx";
import {
  buildPages,
  entrancePages,
  moneyPages,
  operatorPages,
  ownPages,
  shared,
  teamPages,
  trafficPages,
} from "./routes/pages.ts";
import { account, entrance, home, operator, root, shell } from "./routes/parents.ts";
import { parseSearch, printSearch } from "./search.ts";
import { Brand } from "./shell/brand.tsx";

const tree = root.addChildren([
  entrance.addChildren(entrancePages),
  shared,
  shell.addChildren([
    home,
    ...ownPages,
    account.addChildren([...trafficPages, ...buildPages, ...moneyPages, ...teamPages]),
    operator.addChildren(operatorPages),
  ]),
]);

/** Creates the router of the console. Filters, ranges and pages of rows are kept in the URL as plain text. */
export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: "/console",
    context: { queryClient },
    parseSearch,
    stringifySearch: printSearch,
    defaultPreload: "intent",
    defaultPendingMs: 150,
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}

/** A page that is being loaded. */
function Loading() {
  return (
    <div aria-busy="true">
      <Skeleton shape="title" />
      <Skeleton lines={2} />
      <Skeleton shape="block" />
    </div>
  );
}

/** A page that failed. */
function PageError({ error, reset }: ErrorComponentProps) {
  const queries = useQueryErrorResetBoundary();
  const retry = () => {
    queries.reset();
    reset();
  };
  return <ErrorPanel error={error} onRetry={retry} />;
}

/** Stands alone: no route, and so no frame, belongs to the path. */
function NotFound() {
  return (
    <main className={styles.page}>
      <Brand size={36} />
      <PageHeader title="There is no such page" note="The address may be old, or mistyped." />
      <ButtonLink to="/">Go to the overview</ButtonLink>
    </main>
  );
}
