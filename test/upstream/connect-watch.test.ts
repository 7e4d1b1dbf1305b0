import { describe, expect, test } from "bun:test";
import { createConnectWatch } from "../../src/upstream/connect-watch.ts";
import { until } from "../support/until.ts";

const URL = "http://127.0.0.1:1/v1";

/** A watch whose probes are counted and find the host as given, and its calls that were reported lost. */
function watchHost(reachable: boolean, { probeMs = 0, connectMs = 40 } = {}) {
  const probes: number[] = [];
  const lost: string[] = [];
  const watch = createConnectWatch({
    connectMs,
    async probe(_url, ms) {
      probes.push(ms);
      await Bun.sleep(probeMs);
      return reachable;
    },
  });
  const start = (name: string) => watch.start(URL, { unreachable: () => void lost.push(name) });
  return { watch, probes, lost, start };
}

describe("the connect watch of a host", () => {
  test("knows no answer at first, and a late one after an answer", () => {
    const { watch } = watchHost(true);
    expect([watch.hasAnswered, watch.hasAnsweredLately()]).toEqual([false, false]);
    watch.answered();
    expect([watch.hasAnswered, watch.hasAnsweredLately()]).toEqual([true, true]);
  });

  test("reports silent calls of an unreachable host, after one probe for half of the connect limit", async () => {
    // Longer than both calls are silent.
    const { probes, lost, start } = watchHost(false, { probeMs: 100 });
    start("one");
    start("two");
    await until(() => lost.length === 2);
    expect(probes).toEqual([20]);
  });

  test("reports no call of a host that a probe reaches", async () => {
    const { probes, lost, start } = watchHost(true);
    start("slow");
    await until(() => probes.length === 1);
    await Bun.sleep(10);
    expect(lost).toEqual([]);
  });

  test("probes no host that answered another call meanwhile", async () => {
    const { watch, probes, start } = watchHost(false);
    const startedAt = performance.now();
    start("slow");
    // Without a pause, in which half of the connect limit could pass.
    while (performance.now() < startedAt + 1);
    watch.answered();
    await Bun.sleep(60);
    expect(probes).toEqual([]);
  });

  test("does not report a call that ended before its probe", async () => {
    const { promise: probing, resolve: begin } = Promise.withResolvers<void>();
    const { promise: found, resolve: find } = Promise.withResolvers<boolean>();
    const watch = createConnectWatch({
      connectMs: 20,
      probe() {
        begin();
        return found;
      },
    });
    let isLost = false;
    const call = watch.start(URL, {
      unreachable: () => {
        isLost = true;
      },
    });
    await probing;
    call.end();
    find(false);
    await Bun.sleep(5);
    expect(isLost).toBe(false);
  });
});
