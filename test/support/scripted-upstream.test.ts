import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createCanaries } from "./canaries.ts";
import { answer, garbage, gate, resetAtOnce, silence } from "./script.ts";
import { answerWith } from "./scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
beforeEach(() => upstream.reset());
afterAll(() => upstream.stop());

function ask(body: object, signal: AbortSignal | null = null): Promise<Response> {
  const path = "/chat/completions";
  return fetch(`${upstream.openaiUrl}${path}`, { method: "POST", body: JSON.stringify(body), signal });
}

describe("the scripted upstream", () => {
  test("answers chat completions and messages, whole and streamed", async () => {
    expect(await (await ask({ model: "m" })).json()).toMatchObject({
      choices: [{ message: { content: "Hello there, friend." } }],
    });
    expect(await (await ask({ model: "m", stream: true })).text()).toEndWith("data: [DONE]\n\n");
    const messages = (stream: boolean) =>
      fetch(`${upstream.anthropicUrl}/v1/messages?beta=true`, {
        method: "POST",
        body: JSON.stringify({ model: "m", stream }),
      });
    expect(await (await messages(false)).json()).toMatchObject({ type: "message" });
    expect(await (await messages(true)).text()).toEndWith(
      `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
    );
  });

  test("plays the scripts of a model in order and records each request", async () => {
    upstream.on("m", answer({ status: 500, body: "one" }), answer({ body: "two" }));
    expect((await ask({ model: "m" })).status).toBe(500);
    expect(await (await ask({ model: "m" })).text()).toBe("two");
    expect(await (await ask({ model: "m" })).text()).toBe("two");
    expect(upstream.seen.map(({ method, model }) => `${method} ${model}`)).toEqual(Array(3).fill("POST m"));
    expect(upstream.seen[0]?.bodyText).toBe('{"model":"m"}');
  });

  test("sends a body in pieces of any size, gzipped or plain, in any framing", async () => {
    for (const framing of ["length", "chunked", "until_close"] as const) {
      for (const gzip of [false, true]) {
        upstream.on("m", answer({ body: "0123456789", framing, gzip, pieces: [1, 3, 2] }));
        expect(await (await ask({ model: "m" })).text()).toBe("0123456789");
      }
    }
  });

  test("resets before and within an answer, cuts the body, and claims a wrong length", async () => {
    for (const broken of [
      resetAtOnce,
      answer({ body: "0123456789", cutAt: 4, end: "reset" }),
      answer({ body: "0123456789", cutAt: 4, end: "close", framing: "chunked" }),
      answer({ body: "0123456789", claimedLength: 20, end: "close" }),
      garbage("SSH-2.0-OpenSSH\r\n"),
    ]) {
      upstream.on("m", broken);
      expect(
        await ask({ model: "m" })
          .then((response) => response.text())
          .catch(() => "failed"),
      ).toBe("failed");
    }
  });

  test("waits for its gate, and records a client that disconnects meanwhile", async () => {
    const { opened, open } = gate();
    upstream.on("m", answer({ gate: opened, body: "late" }), silence);
    const late = ask({ model: "m" });
    expect(await Promise.race([late, Bun.sleep(30)])).toBeUndefined();
    open();
    expect(await (await late).text()).toBe("late");

    const controller = new AbortController();
    const never = ask({ model: "m" }, controller.signal).catch(() => undefined);
    await upstream.waitForSeen(2);
    expect(upstream.seen[1]?.disconnectedAtMs).toBeUndefined();
    controller.abort();
    await never;
    await upstream.seen[1]?.over;
    expect(upstream.seen[1]?.disconnectedAtMs).toBeNumber();
  });

  test("pauses after the given number of bytes until its gate opens", async () => {
    const { opened, open } = gate();
    upstream.on("m", answerWith(undefined, { pauseAt: { bytes: 20, gate: opened } }));
    const reader = (await ask({ model: "m", stream: true })).body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(20);
    const rest = reader?.read();
    expect(await Promise.race([rest, Bun.sleep(20)])).toBeUndefined();
    open();
    expect((await rest)?.value?.length).toBeGreaterThan(20);
    await reader?.cancel();
  });
});

describe("a canary", () => {
  test("is found in any case, and in base64", () => {
    const { next, expectNone } = createCanaries();
    expectNone("nothing of the kind");
    const secret = next("place");
    for (const leak of [secret, secret.toUpperCase(), Buffer.from(secret).toString("base64")]) {
      expect(() => expectNone(`said ${leak} aloud`)).toThrow();
    }
  });
});
