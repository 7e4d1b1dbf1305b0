import { lazyRouteComponent } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";

const RETRY_MS = 2_000;
let lastAnswerMs = Date.now();
let isAway = false;
let waiting: Promise<void> | undefined;
const listeners = new Set<() => void>();

/** Must be called for each answer of the server. */
export function noteAnswer(): void {
  lastAnswerMs = Date.now();
}

/** Unix milliseconds of the last answer, while the server cannot be reached; otherwise `undefined`. */
export function useAwaySince(): number | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (isAway ? lastAnswerMs : undefined),
  );
}

/** Resolves when the server answers, asking every 2 s. Every page shows meanwhile that it does not. */
export function untilReachable(): Promise<void> {
  waiting ??= askAgain().finally(() => {
    waiting = undefined;
  });
  return waiting;
}

async function askAgain(): Promise<void> {
  while (!(await isAnswering())) {
    setAway(true);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  noteAnswer();
  setAway(false);
}

async function isAnswering(): Promise<boolean> {
  try {
    await fetch(`${location.origin}/console/`, { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

function setAway(next: boolean): void {
  if (next === isAway) return;
  isAway = next;
  for (const listener of listeners) listener();
}

/**
 * A page or part that is loaded when it is needed. The router's own loads the document again after a failure, which
 * would end in the browser's error page while the server is away: this one waits for the server. While it answers,
 * the part is one of an earlier build, which only the document can replace.
 */
export const lazyPart: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (fault) {
      if (await isAnswering()) throw fault;
      await untilReachable();
      return load();
    }
  }, name);
