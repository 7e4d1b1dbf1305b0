/** As many as one script call takes: one of more keeps others waiting on the server for over a millisecond. */
export const CHUNK_SIZE = 64;

/**
 * Does something with each of many, some at a time: all at once they would stand in the way of the requests
 * that come meanwhile. Rejects as soon as one does, and leaves out the rest.
 */
export async function chunked<Each>(all: readonly Each[], act: (each: Each) => Promise<void>): Promise<void> {
  for (let start = 0; start < all.length; start += CHUNK_SIZE) {
    await Promise.all(all.slice(start, start + CHUNK_SIZE).map(act));
  }
}
