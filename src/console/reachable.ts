import { lazyRouteComponent } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";

/** What does not answer: the gateway, or the database behind it. */
export type Away = "gateway" | "database";

const RETRY_MS = 2_000;
let lastAnswerMs = Date.now();
let away: Away | undefined;
let waiting: Promise<boolean> | undefined;
const listeners = new Set<() => void>();

/** Must be called for each answer of the server. */
export function noteAnswer(): void {
  lastAnswerMs = Date.now();
}

/** What does not answer at present; `undefined` while everything does. */
export function useAway(): Away | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => away,
  );
}

/** Unix milliseconds of the last answer. */
export function lastAnswerAt(): number {
  return lastAnswerMs;
}

/**
 * Resolves when everything answers, asking every 2 s, with whether anything did not. Every page shows meanwhile
 * what is away.
 */
export function untilReachable(): Promise<boolean> {
  waiting ??= askAgain().finally(() => {
    waiting = undefined;
  });
  return waiting;
}

async function askAgain(): Promise<boolean> {
  let wasAway = false;
  for (let found = await findAway(); found !== undefined; found = await findAway()) {
    wasAway = true;
    setAway(found);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  if (wasAway) noteAnswer();
  setAway(undefined);
  return wasAway;
}

interface ReadinessBody {
  readonly checks: Readonly<Record<string, { readonly ok: boolean } | undefined>>;
}

async function findAway(): Promise<Away | undefined> {
  const answer = await fetch(`${location.origin}/readyz`, { cache: "no-store" }).catch(() => undefined);
  if (!answer) return "gateway";
  if (answer.status !== 503) return undefined;
  // A proxy before the gateway may answer with a page of its own.
  const body: ReadinessBody | null = await answer.json().catch(() => null);
  if (!body?.checks) return "gateway";
  const isWell = (part: string) => body.checks[part]?.ok !== false;
  return isWell("database") && isWell("ledger") ? undefined : "database";
}

function setAway(next: Away | undefined): void {
  if (next === away) return;
  away = next;
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
      if ((await findAway()) === undefined) throw fault;
      await untilReachable();
      return load();
    }
  }, name);
