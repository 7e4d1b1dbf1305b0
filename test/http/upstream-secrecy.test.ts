import { describe, expect, test } from "bun:test";
import { createCanaries } from "../support/canaries.ts";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { HELLO } from "../support/model-output.ts";
import { type Answer, answer, garbage, type Script, type ScriptRequest } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame, streamedLines } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";

const secrets = createCanaries();
const hasty = { connectMs: 5_000, firstOutputMs: 100, idleMs: 100, totalMs: 250 };

const protocols = ["openai", "anthropic"] as const;
const gateway = gatewayForTests({
  models: protocols.flatMap((protocol) => {
    const model = protocol === "openai" ? "chat" : "claude";
    const via = (upstream: string) => ({ routes: [scriptedRoute(`${upstream}-${protocol}`, model)] });
    return [
      scriptedModel(model, protocol),
      scriptedModel(`${model}-nowhere`, protocol, via("nowhere")),
      scriptedModel(`${model}-refused`, protocol, via("refused")),
    ];
  }),
  upstreams: (scripted) =>
    protocols.flatMap((protocol) => {
      const path = `/${secrets.next("path")}${protocol === "openai" ? "/v1" : ""}`;
      const apiKey = secrets.next("api-key");
      const host = `http://${secrets.next("host")}.invalid`;
      return [
        scriptedUpstream(`scripted-${protocol}`, protocol, {
          baseUrl: scripted.url + path,
          apiKey,
          timeouts: hasty,
        }),
        scriptedUpstream(`nowhere-${protocol}`, protocol, { baseUrl: host, apiKey }),
        scriptedUpstream(`refused-${protocol}`, protocol, { baseUrl: `http://127.0.0.1:1${path}`, apiKey }),
      ];
    }),
});

/** Status line, headers and body of a response, as text. */
async function bytesOf(response: Response): Promise<string> {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  return `${response.status} ${response.statusText}\n${headers}\n${await response.text()}`;
}

async function expectSilence(surface: Surface, script: Script | undefined, more: object = {}): Promise<void> {
  for (const stream of [false, true]) {
    if (script) gateway.upstream.on(surface.model, script);
    const response = await post(gateway, surface, { stream, ...more });
    secrets.expectNone(await bytesOf(response));
    const id = response.headers.get("x-request-id");
    const receipt = await fetch(`${gateway.url}/v1/receipts/${id}`, {
      headers: { "x-api-key": gateway.secret },
    });
    secrets.expectNone(await bytesOf(receipt));
  }
  secrets.expectNone(gateway.log.text());
}

const STATUSES = [
  100, 199, 201, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 410,
  413, 415, 418, 421, 422, 424, 425, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 520, 529,
  599, 600, 999,
];

/** Broken answers that a gateway might quote. */
const BROKEN: readonly (readonly [name: string, answer: Answer])[] = [
  ["text that is not JSON", { body: secrets.next("text") }],
  ["JSON cut off", { body: `{"message":"${secrets.next("cut")}` }],
  ["a string", { body: JSON.stringify(secrets.next("string")) }],
  ["an error with status 200", { ...secrets.refusal(200) }],
  ["HTML", { body: `<h1>${secrets.next("html")}</h1>`, headers: { "content-type": "text/html" } }],
  ["a wrong content-length", { body: secrets.next("short"), claimedLength: 999, end: "close" }],
  ["bytes that are no gzip", { body: secrets.next("gzip"), headers: { "content-encoding": "gzip" } }],
  ["a body that is reset", { ...secrets.refusal(500), cutAt: 40, end: "reset" }],
  ["a silence after some bytes", { ...secrets.refusal(500), cutAt: 40, end: "hang" }],
  ["no event", { body: secrets.next("no-event"), headers: EVENT_STREAM }],
  ["a comment", { body: `: ${secrets.next("comment")}\n\n`, headers: EVENT_STREAM }],
  ["an event that is not JSON", { body: `data: ${secrets.next("event")}\n\n`, headers: EVENT_STREAM }],
  [
    "an event of an unknown type",
    {
      body: `event: ${secrets.next("type")}\ndata: {"x":"${secrets.next("data")}"}\n\n`,
      headers: EVENT_STREAM,
    },
  ],
];

function refusalWith(message: string): Answer {
  return {
    status: 400,
    body: JSON.stringify({ type: "error", error: { type: secrets.next("type"), message } }),
  };
}

/** The beginning of a good stream, followed by `end`. */
function breaksWith(end: (request: ScriptRequest) => string): Script {
  return (request) => {
    const lines = streamedLines(request, HELLO).slice(0, 3);
    const body = frame(request.protocol, lines).replace("data: [DONE]\n\n", "") + end(request);
    return answer({ headers: EVENT_STREAM, body })(request);
  };
}

describe.each(SURFACES)("a failing upstream reveals nothing to a client of $path", (surface) => {
  test.each(STATUSES)("with status %d", async (status) => {
    await expectSilence(surface, answer(secrets.refusal(status)));
  });

  test.each(BROKEN)("in %s", (_name, given) => expectSilence(surface, answer(given)));

  test.each([301, 302, 307, 308])("in a redirect with %d, which is not followed", async (status) => {
    const headers = { location: `${gateway.upstream.url}/${secrets.next("elsewhere")}` };
    gateway.upstream.on(surface.model, answer({ status, headers, body: secrets.next("moved") }));
    await expectSilence(surface, undefined);
    expect(gateway.upstream.seen).toHaveLength(2);
    expect(gateway.upstream.seen.every(({ method }) => method === "POST")).toBe(true);
  });

  test.each([
    ["prompt is too long: 201000 tokens > 200000 maximum"],
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    ],
    ["context_length_exceeded"],
  ])("beside the numbers of %p", async (message) => {
    const errorText = `${secrets.next("before")} ${message} ${secrets.next("after")}`;
    await expectSilence(surface, answer(refusalWith(errorText)));
  });

  test("in a host name that cannot be resolved or does not answer", async () => {
    await expectSilence(surface, undefined, { model: `${surface.model}-nowhere` });
    await expectSilence(surface, undefined, { model: `${surface.model}-refused` });
  });

  test("on a connection that does not speak HTTP", async () => {
    await expectSilence(surface, garbage(`${secrets.next("banner")}\r\n`));
    await expectSilence(surface, garbage(`HTTP/1.1 200 ${secrets.next("reason")}\r\n${secrets.next("x")}: `));
  });

  test("in an error in the middle of a stream, however it is framed", async () => {
    const error = { type: "error", error: { type: secrets.next("type"), message: secrets.next("message") } };
    const json = JSON.stringify(error);
    for (const end of [
      `data: ${json}\n\n`,
      `event: error\ndata: ${json}\n\n`,
      `event: ${secrets.next("name")}\ndata: ${json}\n\n`,
      `data: ${secrets.next("not-json")}\n\n`,
      `data: {"error":"${secrets.next("bare")}"}\n\n`,
      `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}],"error":{"message":"${secrets.next("beside")}"}}\n\n`,
      `${secrets.next("no-field")}\n\n`,
      `id: ${secrets.next("id")}\nretry: 1\n: ${secrets.next("comment")}\n\n`,
    ]) {
      await expectSilence(
        surface,
        breaksWith(() => end),
      );
    }
  });

  test("in the headers of a successful answer", async () => {
    const { headers = {} } = secrets.refusal(200);
    await expectSilence(
      surface,
      answerWith({ ...HELLO, model: secrets.next("model") }, { headers: { ...headers } }),
    );
  });
});

test("every upstream call carries canaries in its path and its key", async () => {
  // On a busy machine, a request may exceed its timeout before its upstream call.
  await until(async () => {
    await post(gateway, SURFACES[0]);
    return gateway.upstream.seen.length > 0;
  });
  const [seen] = gateway.upstream.seen;
  expect(() => secrets.expectNone(seen?.target ?? "")).toThrow();
  expect(() => secrets.expectNone(seen?.headers.authorization ?? "")).toThrow();
});
