import { describe, expect, test } from "bun:test";
import { CHAT, post, RESPONSES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";

const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai", {
      routes: [
        scriptedRoute("small", "blind", { can: ["tools"], contextWindow: 4_000, outputTokensMax: 300 }),
        scriptedRoute("scripted-openai", "able", { priority: 2, can: ["tools", "images"] }),
      ],
    }),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("small", "openai", { baseUrl: scripted.openaiUrl }),
  ],
});

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } };
const withImage = { messages: [{ role: "user", content: [IMAGE] }] };

const calledModels = () => gateway.upstream.seen.map(({ model }) => model);
const sentLimit = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");

describe("a request with an image", () => {
  test("skips the route whose model has no eyes, and its receipt says so", async () => {
    gateway.upstream.on("able", answerWith());
    const response = await post(gateway, CHAT, withImage);
    expect(response.status).toBe(200);
    expect(calledModels()).toEqual(["able"]);
    expect((await gateway.receiptOf(response)).outcome?.attempts).toMatchObject([
      { upstream: "small", reason: "cannot_images", status: 0, ms: 0 },
      { upstream: "scripted-openai", status: 200 },
    ]);
  });

  test("is not sent to the skipped route either when the able one fails", async () => {
    gateway.upstream.on("able", answer({ status: 500, body: "{}" }));
    const response = await post(gateway, CHAT, withImage);
    expect(response.status).toBe(502);
    expect(calledModels()).toEqual(["able"]);
  });
});

describe("a route with limits of its own", () => {
  test("takes a plain request at its own output limit, which the client is told", async () => {
    gateway.upstream.on("blind", answerWith());
    const response = await post(gateway, CHAT, { max_tokens: 2_000 });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("300");
    expect(sentLimit()).toMatchObject({ model: "blind", max_tokens: 300 });
  });

  test("is skipped by a prompt above its window, and the hold has the wide one", async () => {
    gateway.upstream.on("able", answerWith());
    const response = await post(gateway, CHAT, {
      messages: [{ role: "user", content: "word ".repeat(4_000) }],
      max_tokens: 100,
    });
    expect(response.headers.get("x-tollgate-max-tokens")).toBeNull();
    expect((await gateway.receiptOf(response)).outcome?.attempts).toMatchObject([
      { reason: "cannot_context_window" },
      { status: 200 },
    ]);
  });

  test("passes a prompt on that its provider finds too long, to a route with a wider window", async () => {
    const tooLong = {
      error: {
        message: "This model's maximum context length is 4000 tokens. Your messages resulted in 4200 tokens.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
      },
    };
    gateway.upstream.on("blind", answer({ status: 400, body: JSON.stringify(tooLong) }));
    gateway.upstream.on("able", answerWith());
    const response = await post(gateway, CHAT, {});
    expect(response.status).toBe(200);
    expect(calledModels()).toEqual(["blind", "able"]);
  });

  test("is translated at its own limit for a client of another format", async () => {
    gateway.upstream.on("blind", answerWith());
    const response = await post(gateway, RESPONSES, { store: false, max_output_tokens: 2_000 });
    expect(response.status).toBe(200);
    expect(sentLimit()).toMatchObject({ max_tokens: 300 });
  });
});
