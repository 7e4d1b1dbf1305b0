import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api.ts";

const STALE_MS = 15_000;
const TRIES_MAX = 2;

/** Creates the cache of answers. `onSignedOut` is called when an answer is 401: the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === "not_authenticated") onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // Only what may pass by itself is asked again.
        retry: (failures, error) => failures < TRIES_MAX && isPassing(error),
      },
      mutations: { retry: false },
    },
  });
}

function isPassing(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 0 || error.status === 500 || error.status === 502;
}
