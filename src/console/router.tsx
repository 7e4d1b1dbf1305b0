import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { Loading, NotFound, PageError } from "./page-states.tsx";
import { buildPages, moneyPages, teamPages, trafficPages } from "./routes/account-pages.ts";
import { entrancePages, shared } from "./routes/entrance-pages.ts";
import { operatorPages } from "./routes/operator-pages.ts";
import { home, ownPages } from "./routes/own-pages.ts";
import { account, entrance, operator, root, shell } from "./routes/parents.ts";
import { parseSearch, printSearch } from "./search.ts";

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
