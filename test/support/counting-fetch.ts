/** A `fetch` for real SDK clients that counts the calls that reach the network. */
export interface CountingFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly posts: number;
}

/** Creates a `fetch` whose count starts at 0. */
export function createCountingFetch(): CountingFetch {
  let posts = 0;
  const count = (...args: Parameters<typeof globalThis.fetch>) => {
    posts += 1;
    return globalThis.fetch(...args);
  };
  return {
    fetch: Object.assign(count, { preconnect: globalThis.fetch.preconnect }),
    get posts() {
      return posts;
    },
  };
}

/** Returns the value that a promise rejected with. Throws when the promise resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a failure");
}
