const POLL_MS = 1_000;
/** Files unchanged for this long are complete. A partial file can be valid too, with some models missing. */
const SETTLED_MS = 300;

/** Files that are watched together. */
export interface Watched<Found> {
  /** Returns a text that differs after a change of a file. */
  mark(): Promise<string>;
  read(): Promise<Found>;
  isSame(one: Found, other: Found): boolean;
}

/** Watches files. */
export interface Watcher {
  /** Reads the files now and reports them, changed or not. */
  request(): void;
  close(): void;
}

/**
 * Calls `onFound` with the content of files: at the start, on request, and when a file has changed. Calls do
 * not overlap: changes during one cause the next. `onFound` must not reject.
 */
export function watch<Found>(
  files: Watched<Found>,
  onFound: (found: Found, isRequested: boolean) => Promise<void>,
): Watcher {
  /** Mark of the files before their latest read. */
  let mark: string | undefined;
  let isRequested = false;
  let mayDiffer = false;
  let isBusy = false;
  let isClosed = false;
  let timer: Timer | undefined;

  async function poll(): Promise<void> {
    if ((await files.mark()) !== mark) {
      mayDiffer = true;
      void readAndReport();
    }
    if (!isClosed) timer = setTimeout(poll, POLL_MS).unref();
  }

  async function readAndReport(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    while ((isRequested || mayDiffer) && !isClosed) {
      const wasRequested = isRequested;
      isRequested = false;
      mayDiffer = false;
      const found = await readSettled();
      if (!isClosed) await onFound(found, wasRequested);
    }
    isBusy = false;
  }

  async function read(): Promise<Found> {
    mark = await files.mark();
    return files.read();
  }

  /** Reads until two reads in a row are equal, or the watcher is closed. */
  async function readSettled(): Promise<Found> {
    let latest = await read();
    while (!isClosed) {
      await Bun.sleep(SETTLED_MS);
      const next = await read();
      if (files.isSame(latest, next)) return next;
      latest = next;
    }
    return latest;
  }

  void poll();
  return {
    request() {
      isRequested = true;
      void readAndReport();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
