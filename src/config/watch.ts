import { isSameSource, markSource, readSource, type Source } from "./source.ts";

const LOOK_MS = 1_000;
/** A file that was the same for so long is whole: a half of it may be valid too, with half of the models. */
const SETTLED_MS = 300;

/** Reads a file again and again. */
export interface SourceWatcher {
  /** Reads it now, changed or not; tells of it once it has settled. */
  request(): void;
  close(): void;
}

/**
 * Tells what is found under a path: when asked, at the start, and when it has changed since it was read
 * last. One reading at a time, with what is done about it; what happens meanwhile is seen by the next.
 * `onFound` must not reject.
 */
export function watchSource(
  path: string,
  onFound: (found: Source, asked: boolean) => Promise<void>,
): SourceWatcher {
  /** Of what was read last, as it was before that. */
  let mark: string | undefined;
  let isAsked = false;
  let mayDiffer = false;
  let isBusy = false;
  let isClosed = false;
  let timer: Timer | undefined;

  async function look(): Promise<void> {
    const found = await markSource(path);
    if (found !== undefined && found !== mark) {
      mayDiffer = true;
      void work();
    }
    if (!isClosed) timer = setTimeout(look, LOOK_MS).unref();
  }

  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    while ((isAsked || mayDiffer) && !isClosed) {
      const asked = isAsked;
      isAsked = false;
      mayDiffer = false;
      const found = await readSettled();
      if (!isClosed) await onFound(found, asked);
    }
    isBusy = false;
  }

  async function read(): Promise<Source> {
    mark = await markSource(path);
    return readSource(path);
  }

  /** What was found twice in a row, or last before the end. */
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

  void look();
  return {
    request() {
      isAsked = true;
      void work();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
