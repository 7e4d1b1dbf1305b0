import { describe, expect, test } from "bun:test";
import { type Watch, watchAttempt } from "../../src/gateway/watch.ts";

const TIMEOUTS = { connectMs: 5_000, firstOutputMs: 60, idleMs: 40, totalMs: 150 };

function watch(over: { stream?: boolean; elapsedMs?: number; clientSignal?: AbortSignal } = {}): Watch {
  const { stream = true, elapsedMs = 0, clientSignal = new AbortController().signal } = over;
  return watchAttempt({
    timeouts: TIMEOUTS,
    stream,
    elapsedMs,
    clientSignal,
    clock: () => performance.now(),
  });
}

async function aborted({ signal }: Watch): Promise<number> {
  const startedAt = performance.now();
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return performance.now() - startedAt;
}

describe("watchAttempt()", () => {
  test("a stream without output is aborted at the first-output limit, whatever else it sends", async () => {
    const watched = watch();
    const chatter = setInterval(watched.progress, 5);
    expect(await aborted(watched)).toBeGreaterThan(50);
    clearInterval(chatter);
    expect(watched.timedOut).toBe("first_output");
  });

  test("after the output silence is measured anew from each piece", async () => {
    const watched = watch();
    watched.output();
    const pieces = setInterval(watched.progress, 10);
    setTimeout(() => clearInterval(pieces), 80);
    const ms = await aborted(watched);
    expect(watched.timedOut).toBe("idle");
    expect(ms).toBeGreaterThan(100);
  });

  test("an answer that never falls silent is aborted at the total limit", async () => {
    const watched = watch();
    watched.output();
    const pieces = setInterval(watched.progress, 5);
    await aborted(watched);
    clearInterval(pieces);
    expect(watched.timedOut).toBe("total");
  });

  test("a whole answer has only the total limit, less what the request already used", async () => {
    const watched = watch({ stream: false, elapsedMs: 100 });
    const ms = await aborted(watched);
    expect(watched.timedOut).toBe("total");
    expect(ms).toBeGreaterThan(40);
    expect(ms).toBeLessThan(100);
  });

  test("a client that hangs up aborts the attempt at once, also one that already had", () => {
    const client = new AbortController();
    const watched = watch({ clientSignal: client.signal });
    client.abort();
    expect(watched.signal.aborted).toBe(true);
    expect(watched.timedOut).toBeUndefined();
    expect(watch({ clientSignal: client.signal }).signal.aborted).toBe(true);
  });

  test("a client that reads slowly is no silence of the upstream, which is measured anew afterwards", async () => {
    const watched = watch();
    watched.output();
    await watched.untilRead(Bun.sleep(100));
    expect(watched.signal.aborted).toBe(false);
    expect(await aborted(watched)).toBeLessThan(70);
    expect(watched.timedOut).toBe("idle");
  });

  test("a client that never reads is waited for until the total limit, and not beyond an abort", async () => {
    const watched = watch();
    watched.output();
    const never = Promise.withResolvers<void>().promise;
    const startedAt = performance.now();
    await watched.untilRead(never);
    expect(performance.now() - startedAt).toBeWithin(140, 400);
    expect(watched.timedOut).toBe("total");
    await watched.untilRead(never);
  });

  test("a closed watch aborts nothing any more", async () => {
    const client = new AbortController();
    const watched = watch({ clientSignal: client.signal });
    watched.close();
    client.abort();
    await Bun.sleep(170);
    expect(watched.signal.aborted).toBe(false);
  });
});
