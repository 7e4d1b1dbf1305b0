import { describe, expect, test } from "bun:test";
import { type Watch, watchAttempt } from "../../src/gateway/timeouts.ts";

const TIMEOUTS = { connectMs: 5_000, firstOutputMs: 60, idleMs: 40, totalMs: 150 };

function watch(
  over: {
    connectMs?: number;
    totalMs?: number;
    stream?: boolean;
    deadlineMs?: number;
    clientSignal?: AbortSignal;
  } = {},
): Watch {
  const {
    connectMs = 5_000,
    totalMs = TIMEOUTS.totalMs,
    stream = true,
    deadlineMs = 10_000,
    clientSignal = new AbortController().signal,
  } = over;
  return watchAttempt({
    timeouts: { ...TIMEOUTS, connectMs, totalMs },
    stream,
    startedAt: performance.now(),
    deadlineAt: performance.now() + deadlineMs,
    enders: [clientSignal],
    clock: () => performance.now(),
  });
}

async function aborted({ signal }: Watch): Promise<number> {
  const startedAt = performance.now();
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return performance.now() - startedAt;
}

describe("watchAttempt()", () => {
  test("a connection that does not come is aborted at its limit, also a second one", async () => {
    const watched = watch({ connectMs: 30 });
    expect(await aborted(watched)).toBeGreaterThan(25);
    expect(watched.timedOut).toBe("connect");
    const again = watch({ connectMs: 30 });
    again.connected();
    again.connecting();
    await aborted(again);
    expect(again.timedOut).toBe("connect");
  });

  test("an attempt that connected is not held to the limit of connecting", async () => {
    const watched = watch({ connectMs: 20 });
    watched.connected();
    expect(await aborted(watched)).toBeGreaterThan(45);
    expect(watched.timedOut).toBe("first_output");
  });

  test("an answer that began before its call was sent whole is held to its silences", async () => {
    const watched = watch();
    watched.began();
    watched.connected();
    await aborted(watched);
    expect(watched.timedOut).toBe("idle");
  });

  test("what comes behind a finish is not waited for longer than ten seconds, or the idle limit", async () => {
    const watched = watch();
    watched.connected();
    watched.finished();
    await aborted(watched);
    expect(watched.timedOut).toBe("idle");
  });

  test("a whole answer that began is held to its silences", async () => {
    const watched = watch({ stream: false });
    watched.connected();
    watched.began();
    await aborted(watched);
    expect(watched.timedOut).toBe("idle");
  });

  test("a stream without output is aborted at the first-output limit, whatever else it sends", async () => {
    const watched = watch();
    watched.connected();
    const chatter = setInterval(watched.progress, 5);
    expect(await aborted(watched)).toBeGreaterThan(50);
    clearInterval(chatter);
    expect(watched.timedOut).toBe("first_output");
  });

  test("after the output silence is measured anew from each piece", async () => {
    const watched = watch();
    watched.began();
    const pieces = setInterval(watched.progress, 10);
    setTimeout(() => clearInterval(pieces), 80);
    const ms = await aborted(watched);
    expect(watched.timedOut).toBe("idle");
    expect(ms).toBeGreaterThan(100);
  });

  test("an answer that never falls silent is aborted at the total limit", async () => {
    const watched = watch();
    watched.began();
    const pieces = setInterval(watched.progress, 5);
    await aborted(watched);
    clearInterval(pieces);
    expect(watched.timedOut).toBe("total");
  });

  test("a whole answer that does not begin has only the total limit, and the request's deadline", async () => {
    const watched = watch({ stream: false, deadlineMs: 50 });
    watched.connected();
    const ms = await aborted(watched);
    expect(watched.timedOut).toBe("deadline");
    expect(ms).toBeGreaterThan(40);
    const unhurried = watch({ stream: false });
    unhurried.connected();
    await aborted(unhurried);
    expect(unhurried.timedOut).toBe("total");
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
    const watched = watch({ totalMs: 10_000 });
    watched.began();
    await watched.untilRead(Bun.sleep(100));
    expect(watched.signal.aborted).toBe(false);
    expect(await aborted(watched)).toBeGreaterThan(30);
    expect(watched.timedOut).toBe("idle");
  });

  test("a client that never reads is waited for until the total limit, and not beyond an abort", async () => {
    const watched = watch();
    watched.began();
    const never = Promise.withResolvers<void>().promise;
    const startedAt = performance.now();
    await watched.untilRead(never);
    expect(performance.now() - startedAt).toBeWithin(140, 3_000);
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
