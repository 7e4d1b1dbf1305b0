import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { answer, resetAtOnce } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { configFolder, problemsOf } from "./temp-config.ts";

const hidden = createCanaries();
const KEY = hidden.next("key");
const PLACE = hidden.next("place");

function upstreamOf(entry: string): string {
  return `upstreams:\n  up: ${entry}\nmodels: {}\n`;
}

describe("a problem never quotes a credential, given", () => {
  test.each([
    [
      "a quote that is not closed",
      upstreamOf(`{ protocol: openai, base_url: https://a.example, api_key: "${KEY} }`),
    ],
    ["a bracket that is not closed", upstreamOf(`\n    api_key: [${KEY}`)],
    ["a colon after it", upstreamOf(`\n    api_key: ${KEY}: ${KEY}`)],
    [
      "a line break in it",
      upstreamOf(`{ protocol: openai, base_url: https://a.example, api_key: "${KEY}\\n${KEY}" }`),
    ],
    ["a second line", upstreamOf(`\n    api_key: ${KEY}\n      ${KEY}: ${KEY}\n`)],
    ["no space before it", upstreamOf(`{ protocol: openai, base_url: https://a.example, api_key:${KEY} }`)],
    ["it as a duplicate key", upstreamOf(`{ api_key: ${KEY}-1, api_key: ${KEY}-2 }`)],
    ["it in a list", upstreamOf(`{ api_key: [${KEY}, ${KEY}] }`)],
    ["it as the upstream", upstreamOf(KEY)],
    ["it as a placeholder", upstreamOf(`{ api_key: \${${KEY}} }`)],
    ["it in the base URL as a user", upstreamOf(`{ base_url: "https://me:${KEY}@a.example" }`)],
    ["it in the base URL as a query", upstreamOf(`{ base_url: "https://a.example/v1?key=${KEY}" }`)],
    ["a base URL that is not encrypted", upstreamOf(`{ base_url: "http://a.example/${PLACE}" }`)],
    ["a base URL that is not a URL", upstreamOf(`{ base_url: "${PLACE}" }`)],
    ["a base URL in place of a number", upstreamOf(`{ timeouts: { idle_ms: "https://${PLACE}" } }`)],
  ])("%s", (_what, yaml) => {
    const problems = problemsOf(yaml);
    expect(problems).not.toEqual([]);
    hidden.expectNone(problems.join("\n"));
  });

  test("a variable with a line break in it", () => {
    const yaml = upstreamOf(`{ protocol: openai, base_url: https://a.example, api_key: \${KEY} }`);
    const problems = problemsOf(yaml, { KEY: `${KEY}\n${KEY}` });
    expect(problems).toHaveLength(1);
    hidden.expectNone(problems.join("\n"));
  });
});

describe("the command line prints no credential with", () => {
  const GOOD = upstreamOf(`{ protocol: openai, base_url: "http://127.0.0.1:1/${PLACE}", api_key: ${KEY} }`);
  test.each([
    ["check", GOOD],
    ["check --json", GOOD],
    ["check --json", `${GOOD}nonsense: [`],
    ["serve", `${GOOD}nonsense: 1`],
  ])("%s", async (line, yaml) => {
    const ended = await runTollgate(configFolder(yaml), line.split(" "));
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout + ended.stderr).not.toBe("");
    hidden.expectNone(ended.stdout + ended.stderr);
  });
});

describe("a gateway", () => {
  let gateway: TestGateway | undefined;
  afterEach(() => gateway?.stop());

  test("keeps credentials and addresses out of answers, log and data, whatever fails", async () => {
    const dataFolder = tempFolder();
    gateway = await startTestGateway({
      models: [
        scriptedModel("chat", "openai", {
          routes: [scriptedRoute("dead", "chat"), scriptedRoute("up", "chat", { priority: 2 })],
        }),
        scriptedModel("claude", "anthropic", { routes: [scriptedRoute("claude", "claude")] }),
      ],
      upstreams: ({ url }) => [
        scriptedUpstream("dead", "openai", { baseUrl: `http://127.0.0.1:1/${PLACE}`, apiKey: KEY }),
        scriptedUpstream("up", "openai", { baseUrl: `${url}/${PLACE}/v1`, apiKey: KEY }),
        scriptedUpstream("claude", "anthropic", { baseUrl: `${url}/${PLACE}`, apiKey: KEY }),
      ],
      config: { dataFolder, database: { dialect: "sqlite", path: join(dataFolder, "tollgate.db") } },
    });
    gateway.upstream.on(
      "chat",
      answerWith(),
      resetAtOnce,
      answer(hidden.refusal(401)),
      answer(hidden.refusal(400)),
    );
    gateway.upstream.on("claude", answerWith(), answer(hidden.refusal(403)), resetAtOnce);
    const received: string[] = [];
    for (const surface of [CHAT, MESSAGES]) {
      for (const stream of [false, false, false, true]) {
        const response = await post(gateway, surface, { stream });
        received.push(JSON.stringify([...response.headers]), await response.text());
      }
    }
    expect(gateway.upstream.seen.length).toBeGreaterThanOrEqual(8);
    expect(gateway.upstream.seen.every(({ headers }) => JSON.stringify(headers).includes(KEY))).toBe(true);
    hidden.expectNone(received.join("\n"));
    expect(gateway.log.text()).toContain("attempt failed");
    hidden.expectNone(gateway.log.text());
    const files = readdirSync(dataFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
    expect(Buffer.concat(files).includes("claude")).toBe(true);
    hidden.expectNone(Buffer.concat(files));
  });
});
