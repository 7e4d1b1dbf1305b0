import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { parseUnitPrice } from "../../src/domain/money.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate } from "../support/script.ts";
import { EVENT_STREAM } from "../support/scripted-answers.ts";
import { answerImages, completedImage, partialImage, streamImages } from "../support/scripted-units.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  unitModel,
} from "../support/test-catalog.ts";

const MIB = 1024 * 1024;
const BY_TOKENS = { outputTokensMax: 5_000, outputTokensDefault: 5_000, contextWindow: 16_000 };
const ROUTES = [
  scriptedRoute("scripted-openai", "first"),
  scriptedRoute("scripted-openai", "second", { priority: 2 }),
];
const IMAGE = {
  name: "image",
  picos: parseUnitPrice("0.08"),
  variants: [
    { size: "1024x1024", quality: undefined, picos: parseUnitPrice("0.04") },
    { size: "1024x1792", quality: undefined, picos: parseUnitPrice("0.08") },
  ],
} as const;
const gateway = gatewayForTests({
  models: [
    scriptedModel("painter", "openai", BY_TOKENS),
    scriptedModel("two-painters", "openai", { ...BY_TOKENS, routes: ROUTES }),
    scriptedModel("fused", "openai", { ...BY_TOKENS, routes: [scriptedRoute("fused", "fused")] }),
    unitModel("framed", IMAGE),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("fused", "openai", { baseUrl: scripted.openaiUrl, circuitFailures: 2 }),
  ],
});
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const CHAT_ERROR = { name: "chat" } as const;

function paint(more: object = {}, signal?: AbortSignal) {
  const headers = { authorization: `Bearer ${gateway.secret}` };
  const body = JSON.stringify({ model: "painter", prompt: "A cat", stream: true, ...more });
  return fetch(`${gateway.url}/v1/images/generations`, {
    method: "POST",
    headers,
    body,
    signal: signal ?? null,
  });
}

/** Reads a stream with the SDK; the error that it ended with, if any. */
async function paintWithSdk(more: object = {}) {
  const body = { model: "painter", prompt: "A cat", stream: true, ...more } as const;
  const { data, response } = await openai().images.generate(body).withResponse();
  const types: string[] = [];
  try {
    for await (const { type } of data) types.push(type.replace("image_generation.", ""));
    return { types, response, error: undefined };
  } catch (error) {
    return { types, response, error };
  }
}

async function receiptOf(response: Response) {
  await gateway.nothingIsHeld();
  const { granted, captured, outcome } = await gateway.receiptOf(response);
  const { source, usage } = outcome ?? {};
  return { granted, captured, source, outcome: outcome?.outcome, output: usage?.outputTokens };
}

describe("a stream of images, priced by tokens,", () => {
  test("reaches the OpenAI SDK event by event and costs its report to the nano", async () => {
    const events = [partialImage(0), partialImage(1), completedImage(4_360)];
    gateway.upstream.on("painter", streamImages(events));
    const { types, response } = await paintWithSdk({ partial_images: 2 });
    expect(types).toEqual(["partial_image", "partial_image", "completed"]);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await receiptOf(response)).toMatchObject({
      captured: 10n * 1_000n + 4_360n * 2_000n,
      source: "reported",
    });
    expect(JSON.parse(gateway.upstream.seen[0]?.bodyText ?? "")).toMatchObject({
      stream: true,
      partial_images: 2,
    });
  });

  test("holds 100 tokens of output for each partial image of each image", async () => {
    const events = [completedImage(100), completedImage(100)];
    gateway.upstream.on("painter", streamImages(events));
    const grantedFor = async (partial_images: number) => {
      const { response } = await paintWithSdk({ n: 2, partial_images });
      return (await receiptOf(response)).granted ?? 0n;
    };
    expect((await grantedFor(3)) - (await grantedFor(0))).toBe(2n * 300n * 2_000n);
  });

  test("sends the last image only after its settlement", async () => {
    gateway.upstream.on("painter", streamImages([partialImage(0), completedImage(4_160)]));
    const response = await paint({ partial_images: 1 });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (!text.includes("completed")) continue;
      expect(await gateway.receiptOf(response)).toMatchObject({ captured: 8_330_000n });
    }
    expect(text).toContain("completed");
  });

  test("costs the sum of what each of several images reports", async () => {
    const events = [partialImage(0), partialImage(0), completedImage(4_260), completedImage(4_300)];
    gateway.upstream.on("painter", streamImages(events));
    const { types, response } = await paintWithSdk({ n: 2, partial_images: 1 });
    expect(types).toEqual(["partial_image", "partial_image", "completed", "completed"]);
    expect(await receiptOf(response)).toMatchObject({ output: 8_560, source: "reported" });
  });

  test("is whole with fewer images than it asked for, and costs those that came", async () => {
    gateway.upstream.on("painter", streamImages([completedImage(4_160)]));
    const { types, response, error } = await paintWithSdk({ n: 3 });
    expect({ types, error }).toEqual({ types: ["completed"], error: undefined });
    expect(await receiptOf(response)).toMatchObject({ output: 4_160, outcome: "ok" });
  });

  test("without a report costs the maximum of each image that came", async () => {
    gateway.upstream.on("painter", streamImages([completedImage(), completedImage()]));
    const { response } = await paintWithSdk({ n: 3, partial_images: 2 });
    expect(await receiptOf(response)).toMatchObject({ output: 2 * 5_200, source: "estimated" });
  });

  test("that ends without an image is an error, and costs the image that began", async () => {
    gateway.upstream.on("painter", streamImages([partialImage(0)]));
    const { types, response, error } = await paintWithSdk({ n: 2, partial_images: 1 });
    expect(types).toEqual(["partial_image"]);
    expect(error).toMatchObject({ code: "upstream_unavailable" });
    expect(await receiptOf(response)).toMatchObject({ output: 5_100, source: "estimated" });
  });

  test("that reports an error between its images costs the report and the image that began", async () => {
    const fault = { type: "error", error: { code: "server_error", message: "no" } };
    gateway.upstream.on("painter", streamImages([completedImage(4_160), partialImage(0), fault]));
    const { error, response } = await paintWithSdk({ n: 3, partial_images: 1 });
    expect(error).toMatchObject({ code: "upstream_unavailable" });
    expect(await receiptOf(response)).toMatchObject({ output: 4_160 + 5_100, source: "estimated" });
  });

  test("moves to the next route while no image has come", async () => {
    const fault = { type: "error", error: { code: "server_error", message: "no" } };
    gateway.upstream.on("first", streamImages([fault]));
    gateway.upstream.on("second", streamImages([completedImage(4_160)]));
    const { types, error } = await paintWithSdk({ model: "two-painters" });
    expect({ types, error }).toEqual({ types: ["completed"], error: undefined });
  });

  test("that moderation stops ends its request only, and opens no circuit", async () => {
    const message = "Your request was rejected by the safety system.";
    const blocked = { type: "error", error: { code: "moderation_blocked", message } };
    gateway.upstream.on("fused", streamImages([blocked]));
    for (let round = 0; round < 4; round += 1) {
      await expectError(await paint({ model: "fused" }), CHAT_ERROR, "rejected_by_upstream");
    }
    expect(gateway.upstream.seen).toHaveLength(4);
    expect(gateway.log.text()).not.toContain("circuit opened");
  });

  test("costs the image that began when the client leaves after a partial one", async () => {
    const never = gate();
    const first = partialImage(0);
    const bytes = `event: image_generation.partial_image\ndata: ${JSON.stringify(first)}\n\n`.length;
    const events = [first, completedImage(4_160)];
    gateway.upstream.on("painter", streamImages(events, { pauseAt: { bytes, gate: never.opened } }));
    const leaving = new AbortController();
    const response = await paint({ n: 2, partial_images: 1 }, leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    expect(await receiptOf(response)).toMatchObject({ output: 5_100, outcome: "client_closed" });
    never.open();
  });
});

describe("an upstream's stream of images", () => {
  test("may be one JSON object, which becomes the last events of a stream", async () => {
    const usage = { input_tokens: 10, output_tokens: 8_320, total_tokens: 8_330 };
    gateway.upstream.on("painter", answerImages(2, { usage, size: "1024x1024" }));
    const { types, response } = await paintWithSdk({ n: 2 });
    expect(types).toEqual(["completed", "completed"]);
    expect(await receiptOf(response)).toMatchObject({ output: 8_320, source: "reported" });
  });

  test("has base64 that no parser reads, however large", async () => {
    // A parser would refuse the escape.
    const event = JSON.stringify(completedImage(4_160)).replace("aW1hZ2U=", `${"A".repeat(MIB)}\\q`);
    gateway.upstream.on("painter", answer({ headers: EVENT_STREAM, body: `data: ${event}\n\n` }));
    const response = await paint();
    expect(await response.text()).toContain("A\\q");
    expect(await receiptOf(response)).toMatchObject({ output: 4_160, source: "reported" });
  });

  test("may have an image of 20 MiB, and none above 32 MiB", async () => {
    const image = (mib: number) => completedImage(4_160, { b64_json: "A".repeat(mib * MIB) });
    gateway.upstream.on("painter", streamImages([image(20)]), streamImages([image(33)]));
    const whole = await (await paint()).text();
    expect(whole.length).toBeGreaterThan(20 * MIB);
    await expectError(await paint(), CHAT_ERROR, "upstream_unavailable");
  });

  test("that never stops sending partial images is ended", async () => {
    const events = Array.from({ length: 100 }, () => partialImage(0));
    gateway.upstream.on("painter", streamImages(events, { end: "hang" }));
    const { types, error } = await paintWithSdk({ partial_images: 3 });
    expect(error).toMatchObject({ code: "upstream_unavailable" });
    expect(types.length).toBeLessThanOrEqual(16);
  });
});

describe("a stream of images, priced by image,", () => {
  test("costs the images that came by their reported size", async () => {
    gateway.upstream.on("framed", streamImages([completedImage(1, { size: "1024x1792" })]));
    const { types, response } = await paintWithSdk({ model: "framed", n: 2 });
    expect(types).toEqual(["completed"]);
    expect(await receiptOf(response)).toMatchObject({ granted: 160_000_000n, captured: 80_000_000n });
  });

  test("costs all that it asked for when it breaks after a partial image", async () => {
    gateway.upstream.on("framed", streamImages([partialImage(0)]));
    const { response } = await paintWithSdk({ model: "framed", n: 2, size: "1024x1024" });
    expect(await receiptOf(response)).toMatchObject({ captured: 80_000_000n, source: "estimated" });
  });

  test.each([
    ["partial_images", { partial_images: 1 }],
    ["complexity", { complexity: "high" }],
  ])("is refused by the name of %s, which has no price by image", async (field, more) => {
    const before = await gateway.balances();
    const message = `The request asks for an option that has no price here: ${field}`;
    const refused = await paint({ model: "framed", ...more });
    await expectError(refused, CHAT_ERROR, "unpriced_field", { message });
    expect(await gateway.balances()).toEqual(before);
    expect(gateway.upstream.seen).toEqual([]);
  });
});

describe("a request for images", () => {
  test.each([
    ["output_format", { output_format: "gif", frame_count: 16 }],
    ["svg", { svg: { model: "dearer" } }],
  ])("is refused by the name of %s, which costs more than one image", async (field, more) => {
    for (const model of ["painter", "framed"]) {
      const refused = await paint({ model, stream: false, ...more });
      const message = `The request asks for an option that has no price here: ${field}`;
      await expectError(refused, CHAT_ERROR, "unpriced_field", { message });
    }
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("sends no field of a stream when it asks for none", async () => {
    gateway.upstream.on("painter", answerImages(1));
    const response = await paint({ stream: false, partial_images: 2 });
    expect(response.status).toBe(200);
    expect(gateway.upstream.seen[0]?.bodyText).not.toMatch(/stream|partial_images/);
  });

  test.each([{ partial_images: 4 }, { partial_images: "2" }])("with %p is malformed", async (more) => {
    expect((await paint(more)).status).toBe(422);
  });
});
