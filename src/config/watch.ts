import { isSameSource, markSource, readSource, type Source } from "./source.ts";

const POLL_MS = 1_000;
/** A file unchanged for this long is complete. A partial file can be valid too, with some models missing. */
const SETTLED_MS = 300;

/** Watches one file. */
export interface SourceWatcher {
  /** Reads the file now and reports it, changed or not. */
  request(): void;
  close(): void;
}

/**
 * Calls `onFound` with the content of a file: at the start, on request, and when the file has changed. Calls
 * do not overlap: changes during one cause the next. `onFound` must not reject.
 */
export function watchSource(
  path: string,
  onFound: (found: Source, isRequested: boolean) => Promise<void>,
): SourceWatcher {
  /** Mark of the file before its latest read. */
  let mark: string | undefined;
  let isRequested = false;
  let mayDiffer = false;
  let isBusy = false;
  let isClosed = false;
  let timer: Timer | undefined;

  async function poll(): Promise<void> {
    const found = await markSource(path);
    if (found !== undefined && found !== mark) {
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

  async function read(): Promise<Source> {
    mark = await markSource(path);
    return readSource(path);
  }

  /** Reads until two reads in a row are equal, or the watcher is closed. */
  async function readSettled(): Promise<Source> {
    let latest = await read();
    while (!isClosed) {
      await Bun.sleep(SETTLED_MS);
      const next = await read();
      if (isSameSource(latest, next)) return next;
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
