import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { dataOf, objectOf } from "../support/client.ts";
import {
  API_KEY,
  chunkOf,
  type Json,
  type ScriptedGoogle,
  startScriptedGoogle,
  USAGE,
} from "../support/scripted-google.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream, scriptedUpstreams } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-flash-preview";

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const traits = { reasoning: "effort", sampling: true } as const;
  gateway = await startTestGateway({
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic"),
      scriptedModel("g/one:free", "gemini", { routes: [scriptedRoute("gemini", MODEL, { traits })] }),
    ],
  });
});
beforeEach(() => google.reset());
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const HELLO = { contents: [{ role: "user", parts: [{ text: "Say hello." }] }] };

function call(method: string, body: object | string = HELLO, headers: Record<string, string> = {}) {
  return fetch(`${gateway.url}/v1beta/models/${method}`, {
    method: "POST",
    headers: { "x-goog-api-key": gateway.secret, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

describe("smoke", () => {
  test.each(["chat", "claude", "g/one:free"])("%s whole", async (model) => {
    const response = await call(`${model}:generateContent`);
    console.log(response.status, await response.clone().text(), [...response.headers]);
    expect(response.status).toBe(200);
  });
  test.each(["chat", "claude", "g/one:free"])("%s stream", async (model) => {
    for (const query of ["?alt=sse", ""]) {
      const response = await call(`${model}:streamGenerateContent${query}`);
      console.log(response.status, response.headers.get("content-type"), await response.clone().text());
      expect(response.status).toBe(200);
    }
  });
  test("count", async () => {
    const r = await call(`g/one:free:countTokens`);
    console.log(await r.text());
    console.log(await (await call(`chat:countTokens`, {generateContentRequest: {model:"models/chat", ...HELLO}})).text());
    console.log(await (await call(`chat:embedContent`, {content: {parts: [{ text: "x"}]}})).text());
    console.log(await (await call(`nope:generateContent?key=abc`, {content: {parts: [{ text: "x"}]}})).text());
    console.log(await (await fetch(`${gateway.url}/v1beta/models`, {headers: {"x-goog-api-key": gateway.secret}})).text());
  });
});
