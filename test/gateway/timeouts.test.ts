import { describe, expect, test } from "bun:test";
import { AttemptTimeouts } from "../../src/gateway/timeouts.ts";
import { SharedTimer } from "../../src/platform.ts";

const TIMEOUTS = { connectMs: 5_000, firstOutputMs: 60, idleMs: 40, totalMs: 5_000 };
const realClock = () => performance.now();
let startedMs = 0;
/** Shorter than the other limits, for attempts that are to reach it. */
const TOTAL_MS = 150;

function start(
  over: {
    connectMs?: number;
    idleMs?: number;
    totalMs?: number;
    stream?: boolean;
    deadlineMs?: number;
    clientSignal?: AbortSignal;
    clock?: () => number;
  } = {},
): AttemptTimeouts {
  const {
    clock = realClock,
    connectMs = 5_000,
    idleMs = TIMEOUTS.idleMs,
    totalMs = TIMEOUTS.totalMs,
    stream = true,
    deadlineMs = 10_000,
    clientSignal = new AbortController().signal,
  } = over;
  startedMs = clock();
  return new AttemptTimeouts({
    timeouts: { ...TIMEOUTS, connectMs, idleMs, totalMs },
    stream,
    startedAt: startedMs,
    deadlineAt: startedMs + deadlineMs,
    abortSources: [clientSignal],
    clock,
    timer: new SharedTimer(clock),
  });
}

/** Resolves when the attempt is aborted, with the milliseconds since the latest start. */
async function aborted({ signal }: AttemptTimeouts): Promise<number> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return realClock() - startedMs;
}

describe("the timeouts of an attempt", () => {
  test("an attempt without a connection is aborted at the connect limit, also at its second connection", async () => {
    const timeouts = start({ connectMs: 30 });
    expect(await aborted(timeouts)).toBeGreaterThanOrEqual(30);
    expect(timeouts.timedOut).toBe("connect");
    const again = start({ connectMs: 30 });
    again.connected();
    again.connecting();
    await aborted(again);
    expect(again.timedOut).toBe("connect");
  });

  test("an attempt whose assumed connection proves to be none is aborted, as not sent", () => {
    const timeouts = start();
    timeouts.connected();
    expect(timeouts.isSent).toBe(true);
    timeouts.unreachable();
    expect([timeouts.signal.aborted, timeouts.timedOut, timeouts.isSent]).toEqual([true, "connect", false]);
    const answered = start();
    answered.connected();
    answered.began();
    answered.unreachable();
    expect([answered.signal.aborted, answered.isSent]).toEqual([false, true]);
    answered.close();
  });

  test("an attempt with a connection is not aborted at the connect limit", async () => {
    const timeouts = start({ connectMs: 20 });
    timeouts.connected();
    expect(await aborted(timeouts)).toBeGreaterThan(45);
    expect(timeouts.timedOut).toBe("first_output");
  });

  test("an answer that began before its call was sent whole is aborted at the idle limit", async () => {
    const timeouts = start();
    timeouts.began();
    timeouts.connected();
    await aborted(timeouts);
    expect(timeouts.timedOut).toBe("idle");
  });

  test("an answer that has finished is aborted after ten seconds, or at a shorter idle limit", async () => {
    const timeouts = start();
    timeouts.connected();
    timeouts.finished();
    await aborted(timeouts);
    expect(timeouts.timedOut).toBe("idle");
  });

  test("a whole answer that began is aborted at the idle limit", async () => {
    const timeouts = start({ stream: false });
    timeouts.connected();
    timeouts.began();
    await aborted(timeouts);
    expect(timeouts.timedOut).toBe("idle");
  });

  test("a stream without output is aborted at the first-output limit, even if it sends other bytes", async () => {
    const timeouts = start();
    timeouts.connected();
    const chatter = setInterval(() => timeouts.progress(), 5);
    expect(await aborted(timeouts)).toBeGreaterThan(50);
    clearInterval(chatter);
    expect(timeouts.timedOut).toBe("first_output");
  });

  test("the idle limit starts anew with each chunk after the first output", async () => {
    let nowMs = 0;
    const timeouts = start({ idleMs: 40, clock: () => nowMs });
    timeouts.began();
    for (nowMs of [30, 60, 90]) timeouts.progress();
    nowMs = 129;
    // The timer of 40 ms looks at the clock meanwhile.
    await Bun.sleep(60);
    expect(timeouts.signal.aborted).toBe(false);
    nowMs = 130;
    await aborted(timeouts);
    expect(timeouts.timedOut).toBe("idle");
  });

  test("an answer that never pauses is aborted at the total limit", async () => {
    const timeouts = start({ idleMs: 60_000, totalMs: TOTAL_MS });
    timeouts.began();
    const pieces = setInterval(() => timeouts.progress(), 5);
    await aborted(timeouts);
    clearInterval(pieces);
    expect(timeouts.timedOut).toBe("total");
  });

  test("a whole answer that does not begin is aborted at the total limit or the request's deadline", async () => {
    const timeouts = start({ stream: false, deadlineMs: 50 });
    timeouts.connected();
    const ms = await aborted(timeouts);
    expect(timeouts.timedOut).toBe("deadline");
    expect(ms).toBeGreaterThan(40);
    const unhurried = start({ stream: false, totalMs: TOTAL_MS });
    unhurried.connected();
    await aborted(unhurried);
    expect(unhurried.timedOut).toBe("total");
  });

  test("a client that disconnects aborts the attempt at once, also when it did so before the start", () => {
    const client = new AbortController();
    const timeouts = start({ clientSignal: client.signal });
    client.abort();
    expect(timeouts.signal.aborted).toBe(true);
    expect(timeouts.timedOut).toBeUndefined();
    expect(start({ clientSignal: client.signal }).signal.aborted).toBe(true);
  });

  test("the idle limit pauses while the client reads slowly, and starts anew afterwards", async () => {
    const timeouts = start({ totalMs: 60_000 });
    timeouts.began();
    await timeouts.untilRead(Bun.sleep(100));
    expect(timeouts.signal.aborted).toBe(false);
    expect(await aborted(timeouts)).toBeGreaterThanOrEqual(135);
    expect(timeouts.timedOut).toBe("idle");
  });

  test("an attempt whose client never reads is aborted at the total limit", async () => {
    const timeouts = start({ totalMs: TOTAL_MS });
    timeouts.began();
    const never = Promise.withResolvers<void>().promise;
    const startedAt = performance.now();
    await timeouts.untilRead(never);
    expect(performance.now() - startedAt).toBeWithin(140, 60_000);
    expect(timeouts.timedOut).toBe("total");
    await timeouts.untilRead(never);
  });

  test("closed timeouts call the function for the end of the call, once", () => {
    const timeouts = start();
    let ends = 0;
    timeouts.onEnded(() => {
      ends += 1;
    });
    timeouts.close();
    timeouts.close();
    expect(ends).toBe(1);
  });

  test("closed timeouts no longer abort the attempt", async () => {
    const client = new AbortController();
    const timeouts = start({ clientSignal: client.signal });
    timeouts.close();
    client.abort();
    await Bun.sleep(170);
    expect(timeouts.signal.aborted).toBe(false);
  });
});
