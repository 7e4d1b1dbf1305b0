import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { createConnectionPools } from "../../src/upstream/bun-fetch.ts";
import { createHostPost, createHttpSender } from "../../src/upstream/http-upstream.ts";
import type { CallBody, CallObserver } from "../../src/upstream/upstream.ts";
import { callBodyOf } from "../support/call-body.ts";
import { answer, resetAtOnce, silence } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";

let scripted: ScriptedUpstream;
let mute: Server;
beforeAll(async () => {
  scripted = await startScriptedUpstream();
  mute = createServer(() => {}).listen(0, "127.0.0.1");
});
afterEach(() => scripted.reset());
afterAll(async () => {
  mute.close();
  await scripted.stop();
});

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Grüße, 你好 👋" }] });
const CALL = {
  surface: "chat",
  path: "/chat/completions",
  model: "m",
  body: callBodyOf(BODY),
  stream: false,
  headers: {},
  query: "",
} as const;

/** Progress reports of a call, in order. */
interface Observed extends CallObserver {
  readonly steps: readonly string[];
  abort(): void;
}

function observe(): Observed {
  const controller = new AbortController();
  const steps: string[] = [];
  return {
    steps,
    signal: controller.signal,
    abort: () => controller.abort(),
    connecting: () => void steps.push("connecting"),
    connected: () => void steps.push("connected"),
    unreachable: () => void steps.push("unreachable"),
    onEnded: () => {},
  };
}

/** A reset that a busy machine reads later than 300 ms has another cause than a connection that was closed. */
function stoppedClock() {
  return spyOn(performance, "now").mockReturnValue(performance.now());
}

function upstreamAt(baseUrl: string) {
  let count = 0;
  const pools = createConnectionPools(() => count++);
  const config = scriptedUpstream("up", "openai", { baseUrl });
  return createHttpSender(config, createHostPost(config, pools));
}

async function faultOf(call: Promise<Response>): Promise<unknown> {
  const [settled] = await Promise.allSettled([call]);
  return settled.status === "rejected" ? settled.reason.code : settled.value.status;
}

describe("a call over HTTP", () => {
  test("is sent with an unchanged body, a content-length and no chunked encoding", async () => {
    const observed = observe();
    const response = await upstreamAt(scripted.openaiUrl).send(CALL, observed);
    expect(response.status).toBe(200);
    const [seen] = scripted.seen;
    expect(seen?.bodyText).toBe(BODY);
    expect(seen?.headers["content-length"]).toBe(String(Buffer.byteLength(BODY)));
    expect(seen?.headers["transfer-encoding"]).toBeUndefined();
    expect(observed.steps).toEqual(["connected"]);
    await response.text();
  });

  test("is sent unchanged to a host that has just answered, with its length and as connected", async () => {
    const upstream = upstreamAt(scripted.openaiUrl);
    await (await upstream.send(CALL, observe())).text();
    const observed = observe();
    const headers = { "anthropic-version": "2023-06-01" };
    await (await upstream.send({ ...CALL, headers }, observed)).text();
    const [, seen] = scripted.seen;
    expect(seen?.bodyText).toBe(BODY);
    expect(seen?.headers).toMatchObject({
      "content-length": String(Buffer.byteLength(BODY)),
      "anthropic-version": "2023-06-01",
      accept: "application/json",
    });
    expect(observed.steps).toEqual(["connected"]);
  });

  for (const kib of [1, 200, 20 * 1024]) {
    test(`is sent unchanged with a body in blocks of ${kib} KiB in all, to a new host and to one that answers`, async () => {
      const upstream = upstreamAt(scripted.openaiUrl);
      const blocks = [Buffer.from('{"model":"m","text":"'), Buffer.alloc(kib * 1024, "é"), Buffer.from('"}')];
      const whole = Buffer.concat(blocks);
      const body: CallBody = { bytes: whole.byteLength, take: () => blocks };
      for (let call = 0; call < 2; call += 1) {
        const observed = observe();
        await (await upstream.send({ ...CALL, body }, observed)).text();
        expect(observed.steps).toEqual(["connected"]);
        const seen = scripted.seen[call];
        expect(seen?.bodyText === whole.toString()).toBe(true);
        expect(seen?.headers).toMatchObject({
          "content-type": "application/json",
          "content-length": `${whole.byteLength}`,
        });
        expect(seen?.headers["transfer-encoding"]).toBeUndefined();
      }
    });
  }

  test("is sent whole with a body of 30 MiB", async () => {
    const body = JSON.stringify({ model: "m", text: "é".repeat(15 * 1024 * 1024) });
    const response = await upstreamAt(scripted.openaiUrl).send(
      { ...CALL, body: callBodyOf(body) },
      observe(),
    );
    expect(await response.json()).toBeDefined();
    expect(scripted.seen[0]?.bodyText.length).toBe(body.length);
  });

  test("reports no connection when it is refused or its TLS handshake is never answered", async () => {
    const refused = observe();
    expect(await faultOf(upstreamAt("http://127.0.0.1:1/v1").send(CALL, refused))).toBe("ECONNREFUSED");
    expect(refused.steps).toEqual([]);

    const address = mute.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const unanswered = observe();
    setTimeout(unanswered.abort, 150);
    await Promise.allSettled([upstreamAt(`https://127.0.0.1:${port}/v1`).send(CALL, unanswered)]);
    expect(unanswered.steps).toEqual([]);
  });

  test("is sent again on a new connection when its host had closed the kept one", async () => {
    const upstream = upstreamAt(scripted.openaiUrl);
    scripted.on("m", answerWith(), resetAtOnce, answerWith());
    await (await upstream.send(CALL, observe())).text();
    const observed = observe();
    using _ = stoppedClock();
    const response = await upstream.send(CALL, observed);
    expect(response.status).toBe(200);
    await response.text();
    expect(observed.steps).toEqual(["connected", "connecting", "connected"]);
    expect(scripted.seen).toHaveLength(3);
  });

  test("is sent twice at most, and only once before any connection was kept", async () => {
    const upstream = upstreamAt(scripted.openaiUrl);
    scripted.on("m", resetAtOnce);
    expect(await faultOf(upstream.send(CALL, observe()))).toBe("ECONNRESET");
    expect(scripted.seen).toHaveLength(1);
    scripted.on("m", answerWith(), resetAtOnce);
    await (await upstream.send(CALL, observe())).text();
    using _ = stoppedClock();
    expect(await faultOf(upstream.send(CALL, observe()))).toBe("ECONNRESET");
    expect(scripted.seen).toHaveLength(4);
  });

  test("is not sent again when the reset came late or during the response", async () => {
    const upstream = upstreamAt(scripted.openaiUrl);
    await (await upstream.send(CALL, observe())).text();
    scripted.on("m", function* () {
      yield { waitMs: 500 };
      yield { leave: "reset" };
    });
    expect(await faultOf(upstream.send(CALL, observe()))).toBe("ECONNRESET");
    scripted.on("m", answer({ body: "1234567890", cutAt: 4, end: "reset" }));
    const response = await upstream.send(CALL, observe());
    const [body] = await Promise.allSettled([response.text()]);
    expect(body.status).toBe("rejected");
    expect(scripted.seen).toHaveLength(3);
  });

  test("is not sent again after it was aborted", async () => {
    scripted.on("m", silence);
    const observed = observe();
    const call = faultOf(upstreamAt(scripted.openaiUrl).send(CALL, observed));
    await scripted.waitForSeen(1);
    observed.abort();
    await call;
    await scripted.seen[0]?.over;
    expect(scripted.seen).toHaveLength(1);
  });
});
