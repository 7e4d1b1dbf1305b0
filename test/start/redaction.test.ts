import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCanaries } from "../support/canaries.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../support/otlp/receiver.ts";
import { answer } from "../support/script.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { createPaidKey } from "./paid-key.ts";

const canaries = createCanaries();
let upstream: ScriptedUpstream;
let receiver: OtlpReceiver;
let gateway: ServedProcess;
let secret: string;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  receiver = startOtlpReceiver(() => new Response(canaries.next("receiver"), { status: 400 }));
  const folder = tempFolder();
  const model = (name: string) =>
    `  ${name}: { routes: [{ upstream: ${name}, model: chat }], context_window: 1000, max_output_tokens: 9, price: { input: "1", output: "1" } }\n`;
  const entry = (name: string, url: string) =>
    `  ${name}: { protocol: openai, base_url: "${url}", api_key: ${canaries.next("api-key")} }\n`;
  writeFileSync(
    join(folder, "tollgate.yaml"),
    `upstreams:\n${entry("chat", `${upstream.url}/${canaries.next("path")}/v1`)}${entry("away", "http://127.0.0.1:1/v1")}` +
      `models:\n${model("chat")}${model("away")}`,
  );
  secret = await createPaidKey(folder);
  gateway = await startServedProcess({
    folder,
    environment: {
      LOG_LEVEL: "trace",
      SMTP_URL: `smtp://user:${canaries.next("smtp")}@127.0.0.1:1`,
      MAIL_FROM: "tollgate@example.com",
      STRIPE_SECRET_KEY: canaries.next("stripe"),
      STRIPE_WEBHOOK_SECRET: canaries.next("stripe-webhook"),
      REDIS_URL: `redis://user:${canaries.next("redis")}@127.0.0.1:1`,
      LEDGER_LISTEN: "127.0.0.1:0",
      LEDGER_TOKEN: canaries.next("ledger-token"),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${canaries.next("otlp")}`,
      OTEL_BSP_SCHEDULE_DELAY: "20",
    },
  });
});
afterAll(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exitCode;
  await upstream?.stop();
  await receiver?.stop();
});

/** A request with canaries wherever a client can put a text. */
function ask(body: object | string, headers: Record<string, string> = {}): Promise<number> {
  return fetch(`${gateway.url}/v1/chat/completions?${canaries.next("query")}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "user-agent": canaries.next("agent"),
      cookie: canaries.next("cookie"),
      "x-forwarded-for": canaries.next("address"),
      traceparent: canaries.next("traceparent"),
      tracestate: `a=${canaries.next("tracestate")}`,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).then(async (response) => {
    await response.text();
    return response.status;
  });
}

test("no line at the level trace, and no span, has a secret or a text of a client or an upstream", async () => {
  const messages = [{ role: "user", content: canaries.next("prompt") }];
  const refuses = (status: number) => answer(canaries.refusal(status));
  upstream.on("chat", refuses(500), answer({ body: canaries.next("body") }), refuses(400));
  for (let attempt = 0; attempt < 3; attempt += 1) await ask({ model: "chat", messages });
  await ask({ model: "away", messages, stream: true });
  await ask({ model: canaries.next("model"), messages });
  await ask({ model: "chat", messages, user: canaries.next("user") }, { "x-api-key": canaries.next("key") });
  await ask({ model: "chat", messages }, { authorization: `Bearer ${canaries.next("secret")}` });
  await ask(canaries.next("raw"));
  await fetch(`${gateway.url}/${canaries.next("target")}`).then((response) => response.text());
  await until(() => receiver.exports.length > 0);
  expect(receiver.exports[0]?.get("authorization")).toContain("otlp");
  gateway.signal("SIGTERM");
  expect(await gateway.exitCode).toBe(0);
  expect(gateway.stdout()).toContain('"msg":"attempt failed"');
  expect(gateway.stdout()).toContain('"msg":"verb ended"');
  expect(gateway.stdout()).toContain('"msg":"spans dropped"');
  for (const printed of [gateway.stdout(), gateway.stderr(), ...receiver.bytes]) canaries.expectNone(printed);
  expect(gateway.stdout()).not.toContain(secret);
});
