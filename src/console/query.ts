import { type dataTagSymbol, MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api.ts";
import { noteAnswer, untilReachable } from "./reachable.ts";

const STALE_MS = 15_000;
const TRIES_MAX = 2;
/** The key of {@link meQuery}, which imports more than this file needs. */
const ME = ["me"];

/**
 * Creates the cache of answers. `onSignedOut` is called when an answer is 401: the session has ended. After 403
 * or 404 the person is read again, whose role may have changed.
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error, isOfPerson: boolean) => {
    if (!(error instanceof ApiError)) return;
    // A fault of ours is no reason to ask again, unless the database behind it was away.
    if (error.status === 0 || error.status >= 500) {
      void untilReachable().then((wasAway) => {
        if (wasAway || error.status === 0) void client.invalidateQueries();
      });
    }
    if (error.code === "not_authenticated") onSignedOut();
    const mayHaveChanged = error.status === 403 || error.status === 404;
    if (mayHaveChanged && !isOfPerson) void client.invalidateQueries({ queryKey: ME, exact: true });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({
      onSuccess: noteAnswer,
      onError: (error, { queryKey }) => onError(error, queryKey[0] === ME[0]),
    }),
    mutationCache: new MutationCache({ onError: (error) => onError(error, false) }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // Only what may pass by itself is asked again.
        retry: (failures, error) => failures < TRIES_MAX && isPassing(error),
      },
      mutations: { retry: false },
    },
  });
  return client;
}

function isPassing(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 0 || error.status === 500 || error.status === 502;
}

/** A function that makes the options of a query. */
type QueryMaker = (...args: never[]) => { readonly queryKey: { readonly [dataTagSymbol]: unknown } };

/** What a query answers: `DataOf<typeof walletQuery>`. */
export type DataOf<Make extends QueryMaker> = ReturnType<Make>["queryKey"][typeof dataTagSymbol];

/** One item of what a query answers. */
export type ItemOf<Make extends QueryMaker> =
  DataOf<Make> extends { readonly items: readonly (infer Item)[] } ? Item : never;
