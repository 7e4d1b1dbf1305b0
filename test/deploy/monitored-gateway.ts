import { join } from "node:path";
import { locateRedis } from "../limiter/contract/redis.ts";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { createBrowsers } from "../support/console-browser.ts";
import { testRedisUrl } from "../support/redis-server.ts";
import { answer, resetAtOnce } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { tempFolder } from "../support/temp-folder.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const TIERED = { ...TEST_PRICE, tiers: { flex: TEST_PRICE } };

/** Starts a gateway with Redis and metrics, whose model `breaks` fails and whose model `lies` reports too much. */
export async function startMonitoredGateway(): Promise<TestGateway> {
  const redis = locateRedis(await testRedisUrl());
  const gateway = await startTestGateway({
    models: [
      ...["chat", "breaks", "lies"].map((name) => scriptedModel(name, "openai")),
      scriptedModel("claude", "anthropic"),
      scriptedModel("pooled", "openai", { routes: [scriptedRoute("pool", "pooled")] }),
      scriptedModel("tiered", "openai", {
        price: TIERED,
        routes: [scriptedRoute("scripted-openai", "tiered", { price: TIERED })],
      }),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("pool", "openai", {
        baseUrl: scripted.openaiUrl,
        keys: ["a", "b"].map((label) => ({ label, apiKey: `secret-${label}`, weight: 1, limits: {} })),
      }),
    ],
    limits: { requestsPerMinute: 1_000_000 },
    config: {
      metricsListen: { host: "127.0.0.1", port: 0 },
      limiter: { redis, onFailure: "local", replicas: 1 },
      exports: [
        {
          name: "warehouse",
          kind: "file",
          path: join(tempFolder(), "usage.jsonl"),
          start: "now",
          batchLines: 500,
          rotate: "day",
          rotateBytes: 1_000_000_000,
        },
      ],
    },
  });
  gateway.upstream.on("breaks", resetAtOnce);
  gateway.upstream.on("lies", answerWith({ text: "Hello.", usage: { input: 900_000, output: 7 } }));
  gateway.upstream.on("claude", answer({ status: 529, body: "{}" }), answerWith());
  return gateway;
}

/** Sends a few requests of every kind: answered, streamed, refused, failed, overcharged; and signs in wrongly. */
export async function sendTraffic(gateway: TestGateway): Promise<void> {
  const answers = await Promise.all([
    post(gateway, CHAT),
    post(gateway, CHAT, { stream: true }),
    post(gateway, MESSAGES, { max_tokens: 50 }),
    post(gateway, MESSAGES, { max_tokens: 50, stream: true }),
    post(gateway, CHAT, { model: "pooled" }),
    post(gateway, CHAT, { model: "tiered", service_tier: "flex" }),
    post(gateway, CHAT, { model: "breaks" }),
    post(gateway, CHAT, { model: "lies" }),
    post(gateway, CHAT, { model: "unheard of" }),
    post(gateway, CHAT, { secret: "sk-tg-wrong" }),
  ]);
  await Promise.all(answers.map((each) => each.text()));
}

/** Fails one sign-in at the console. */
export async function failSignIn({ tollgate }: TestGateway): Promise<void> {
  const browser = createBrowsers(tollgate.console.parts)();
  await browser.call("POST", "/sign-in", { email: "nobody@example.com", password: "wrong password" });
}

/** The metrics of a gateway, as Prometheus gets them. */
export async function scrapeMetrics({ tollgate }: TestGateway): Promise<string> {
  return (await fetch(`http://${tollgate.metricsAddress}/metrics`)).text();
}
