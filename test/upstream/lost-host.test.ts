import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createConnectionPools } from "../../src/upstream/bun-fetch.ts";
import { createHostPost, createHttpSender } from "../../src/upstream/http-upstream.ts";
import { callBodyOf, observerOf } from "../support/call-body.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";

/** Above the length of the queue of connections that the kernel accepts for a process, 512. */
const QUEUED = 700;
const CALL = {
  surface: "chat",
  path: "/chat/completions",
  model: "m",
  body: callBodyOf("{}"),
  stream: false,
  headers: {},
  query: "",
} as const;

/**
 * Loses a host right after an answer and calls it again. Returns whether the call was reported as unreachable,
 * or `undefined` when a busy machine took so long that the call no longer came right after the answer.
 */
async function callLostHost(): Promise<boolean | undefined> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/lost-host-child.ts`]);
  const { value: printed } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(printed));
  const base = scriptedUpstream("up", "openai", { baseUrl: `http://127.0.0.1:${port}/v1` });
  const config = { ...base, timeouts: { ...base.timeouts, connectMs: 400 } };
  const post = createHostPost(
    config,
    createConnectionPools(() => 0),
  );
  const upstream = createHttpSender(config, post);
  await (await upstream.send(CALL, observerOf(new AbortController().signal))).text();

  // A stopped process accepts nothing. Once its queue is full, further connections stay without an answer.
  child.kill("SIGSTOP");
  const sockets = Array.from({ length: QUEUED }, () => connect(port, "127.0.0.1").on("error", () => {}));
  const controller = new AbortController();
  const { promise: lost, resolve } = Promise.withResolvers<boolean>();
  let isAssumed = false;
  const observer = {
    ...observerOf(controller.signal),
    connected() {
      isAssumed = true;
    },
    unreachable: () => resolve(true),
  };
  const call = upstream.send(CALL, observer).catch(() => "aborted");
  await Bun.sleep(0);
  const isReported = isAssumed ? await lost : undefined;
  controller.abort();
  await call;
  for (const socket of sockets) socket.destroy();
  child.kill("SIGKILL");
  await child.exited;
  return isReported;
}

test("a call to a host that is lost right after an answer is reported as unreachable", async () => {
  let isReported: boolean | undefined;
  await until(async () => {
    isReported = await callLostHost();
    return isReported !== undefined;
  });
  expect(isReported).toBe(true);
});
