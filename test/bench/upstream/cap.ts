import { startChild } from "../child.ts";
import type { Contestants } from "../contestants.ts";
import { startClient } from "./client-child.ts";
import { BEYOND_CAP } from "./plan.ts";

/** How many of so many streams that nobody ends are open at a time. */
export interface CapResult {
  readonly asked: number;
  /** With fetch in a process that was told nothing. */
  readonly untold: number;
  /** With fetch in a process that was started with the variable that raises Bun's cap. */
  readonly told: number;
  /** Through a gateway that its command line started without that variable. */
  readonly gateway: number;
}

const PATIENCE_MS = 20_000;

/** Throws when the gateway is capped: then its other figures mean nothing. */
export async function measureCap({ gateway }: Contestants): Promise<CapResult> {
  const upstream = await startChild("upstream-process.ts");
  try {
    return {
      asked: BEYOND_CAP,
      untold: await countOpen(upstream.url, { isCapped: true }),
      told: await countOpen(upstream.url, { isCapped: false }),
      gateway: await withinPatience(gateway.withOpenStreams(BEYOND_CAP, async () => BEYOND_CAP)),
    };
  } finally {
    await upstream.stop();
  }
}

async function countOpen(url: string, { isCapped }: { isCapped: boolean }): Promise<number> {
  const client = startClient("fetch", { url, isCapped });
  try {
    const begun = await client.hold(BEYOND_CAP);
    await finishAll(url);
    const ended = await client.awaitEnds();
    if (ended !== BEYOND_CAP) throw new Error(`${BEYOND_CAP - ended} of ${BEYOND_CAP} streams broke off`);
    return begun;
  } finally {
    await client.stop();
  }
}

/** Again and again: those that had to wait begin, and are held, only when the first have ended. */
async function finishAll(url: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let finished = 0; finished < BEYOND_CAP; await Bun.sleep(20)) {
    if (performance.now() > endMs) throw new Error(`Only ${finished} of ${BEYOND_CAP} streams began`);
    const answer = await fetch(`${url}/finish`);
    // Safe because the upstream says exactly this.
    finished += ((await answer.json()) as { finished: number }).finished;
  }
}

async function withinPatience(opened: Promise<number>): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("The gateway is capped")), PATIENCE_MS);
  return Promise.race([opened, late.promise]).finally(() => clearTimeout(timer));
}
