import { beforeEach, describe, expect, test } from "bun:test";
import { parsePrice, parseUnitPrice } from "../../src/domain/money.ts";
import type { UnitPrice } from "../../src/domain/units.ts";
import { wavFile } from "../support/audio-files.ts";
import { dataOf, objectOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, type Script } from "../support/script.ts";
import {
  answerImages,
  answerRerank,
  answerSpeech,
  answerSpeechEvents,
  answerTranscript,
  completedImage,
  streamImages,
} from "../support/scripted-units.ts";
import { scriptedModel, scriptedRoute, unitModel } from "../support/test-catalog.ts";

const SEARCH: UnitPrice = { name: "search", picos: parseUnitPrice("0.002") };
const CHARACTER: UnitPrice = { name: "character", picos: parsePrice("15.00") };
const SECOND: UnitPrice = { name: "second", picos: parseUnitPrice("0.0001") };
const IMAGE: UnitPrice = {
  name: "image",
  picos: parseUnitPrice("0.12"),
  variants: [
    { size: "1024x1024", quality: undefined, picos: parseUnitPrice("0.04") },
    { size: "1024x1792", quality: undefined, picos: parseUnitPrice("0.08") },
    { size: "1024x1024", quality: "hd", picos: parseUnitPrice("0.12") },
  ],
};
const BY_TOKENS = { outputTokensMax: 5_000, outputTokensDefault: 5_000, contextWindow: 16_000 };
const SOUND = new Uint8Array(30_000).map((_, index) => index % 251);
const CHAT_ERROR = { name: "chat" } as const;

const twoRoutes = (unit: UnitPrice) => {
  const { price } = unitModel("two", unit);
  return ["first", "second"].map((name, index) =>
    scriptedRoute("scripted-openai", name, { price, priority: index + 1 }),
  );
};
const gateway = gatewayForTests({
  models: [
    unitModel("ranker", SEARCH),
    scriptedModel("token-ranker", "openai", { outputTokensMax: 0, outputTokensDefault: 0 }),
    unitModel("painter", IMAGE),
    scriptedModel("token-painter", "openai", BY_TOKENS),
    unitModel("voice", CHARACTER),
    unitModel("voices", CHARACTER, { routes: twoRoutes(CHARACTER) }),
    scriptedModel("token-voice", "openai", BY_TOKENS),
    unitModel("ears", SECOND),
    unitModel("two-ears", SECOND, { routes: twoRoutes(SECOND) }),
    scriptedModel("token-ears", "openai", BY_TOKENS),
  ],
});
beforeEach(() => gateway.upstream.reset());

interface Ask {
  readonly secret?: string;
  readonly signal?: AbortSignal;
}

function send(path: string, body: BodyInit, { secret = gateway.secret, signal }: Ask = {}) {
  const headers = { authorization: `Bearer ${secret}` };
  return fetch(`${gateway.url}${path}`, { method: "POST", headers, body, signal: signal ?? null });
}

const rerank = (documents: readonly string[], model = "ranker") =>
  send("/v1/rerank", JSON.stringify({ model, query: "What?", documents, top_n: 2 }));
const paint = (more: object = {}) =>
  send("/v1/images/generations", JSON.stringify({ model: "painter", prompt: "A cat", ...more }));
const speak = (more: object = {}, ask?: Ask) =>
  send(
    "/v1/audio/speech",
    JSON.stringify({ model: "voice", voice: "alloy", input: "Good morning", ...more }),
    ask,
  );

function transcribe(fields: Readonly<Record<string, string>> = {}, file: File = wavFile(7.5), ask?: Ask) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "ears", ...fields })) form.append(name, value);
  form.append("file", file);
  return send("/v1/audio/transcriptions", form, ask);
}

async function chargeOf(response: Response) {
  await gateway.nothingIsHeld();
  const { granted, captured, outcome } = await gateway.receiptOf(response);
  return {
    granted,
    captured,
    source: outcome?.source,
    outcome: outcome?.outcome,
    units: outcome?.usage?.units,
  };
}

describe("cases 185 to 188: a rerank request", () => {
  test("case 185: is charged the searches that the upstream bills", async () => {
    gateway.upstream.on("ranker", answerRerank(2));
    const response = await rerank(["one", "two".repeat(60_000)]);
    expect(await objectOf(response)).toMatchObject({ results: [{ index: 1 }, { index: 0 }] });
    expect(await chargeOf(response)).toMatchObject({ captured: 4_000_000n, source: "reported", units: 2 });
  });

  test("case 186: is charged a search for each 100 documents where the upstream bills none", async () => {
    gateway.upstream.on("ranker", answerRerank());
    const response = await rerank(Array.from({ length: 101 }, () => "a text"));
    expect(await chargeOf(response)).toMatchObject({ captured: 4_000_000n, source: "estimated", units: 2 });
  });

  test("case 187: never costs more than was held, whatever the upstream bills", async () => {
    gateway.upstream.on("ranker", answerRerank(1_000));
    const response = await rerank(["one", "two"]);
    expect(await chargeOf(response)).toMatchObject({ granted: 2_000_000n, captured: 2_000_000n, units: 1 });
    expect(gateway.log.text()).toContain("usage above bound");
  });

  test("at the path of Cohere's SDKs is served alike, and refused in the same form", async () => {
    gateway.upstream.on("ranker", answerRerank(1));
    const body = { model: "ranker", query: "What?", documents: ["one", "two"], max_tokens_per_doc: 512 };
    const response = await send("/v2/rerank", JSON.stringify(body));
    expect(await objectOf(response)).toMatchObject({ results: [{ index: 1 }, { index: 0 }] });
    expect(await chargeOf(response)).toMatchObject({ captured: 2_000_000n, source: "reported", units: 1 });
    const refused = await send("/v2/rerank", JSON.stringify({ ...body, model: "nobody" }));
    expect(await objectOf(refused)).toMatchObject({ error: { code: "model_not_found" } });
  });

  test("case 188: is charged by reported tokens on a model that is priced by tokens", async () => {
    gateway.upstream.on("token-ranker", answerRerank(1, { usage: { total_tokens: 40 }, model: "theirs" }));
    const response = await rerank(["one", "two"], "token-ranker");
    expect(await objectOf(response)).toMatchObject({ model: "token-ranker" });
    expect(await chargeOf(response)).toMatchObject({
      captured: 40_000n,
      source: "reported",
      units: undefined,
    });
  });
});

describe("cases 189 to 195: a request for images", () => {
  test("case 189: is refused by the name of a size or quality without a price, and holds nothing", async () => {
    const before = await gateway.balances();
    const message = "The request asks for an option that has no price here";
    await expectError(await paint({ size: "512x512" }), CHAT_ERROR, "unpriced_field", {
      message: `${message}: size`,
    });
    await expectError(await paint({ size: "1024x1792", quality: "hd" }), CHAT_ERROR, "unpriced_field", {
      message: `${message}: quality`,
    });
    expect(await gateway.balances()).toEqual(before);
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("case 190: costs the price of its size and quality", async () => {
    gateway.upstream.on("painter", answerImages(2));
    const response = await paint({ n: 2, size: "1024x1024", quality: "hd" });
    expect(await chargeOf(response)).toMatchObject({ granted: 240_000_000n, captured: 240_000_000n });
  });

  test("case 191: holds the dearest image and pays for the reported one when it leaves the choice", async () => {
    gateway.upstream.on("painter", answerImages(1, { size: "1024x1792", quality: "standard" }));
    const response = await paint({ size: "auto", quality: "auto" });
    expect(await chargeOf(response)).toMatchObject({ granted: 120_000_000n, captured: 80_000_000n });
  });

  test("case 192: pays for the images that came, and for no more than it asked for", async () => {
    gateway.upstream.on("painter", answerImages(1), answerImages(5));
    const fewer = await paint({ n: 2, size: "1024x1024" });
    expect(await chargeOf(fewer)).toMatchObject({ granted: 80_000_000n, captured: 40_000_000n, units: 1 });
    const more = await paint({ n: 2, size: "1024x1024" });
    expect(await chargeOf(more)).toMatchObject({ captured: 80_000_000n, source: "estimated", units: 2 });
  });

  test("case 193: is an empty completion without images, and costs nothing", async () => {
    gateway.upstream.on("painter", answerImages(0));
    const response = await paint({ size: "1024x1024" });
    await expectError(response.clone(), CHAT_ERROR, "empty_released");
    expect(await chargeOf(response)).toMatchObject({ captured: 0n, outcome: "empty_completion" });
  });

  test("case 194: is streamed, and costs the price of its size and quality", async () => {
    gateway.upstream.on("painter", streamImages([completedImage(1)]));
    const response = await paint({ stream: true, size: "1024x1024", quality: "hd" });
    expect(await response.text()).toContain("image_generation.completed");
    expect(await chargeOf(response)).toMatchObject({ granted: 120_000_000n, captured: 120_000_000n });
  });

  test("case 195: is charged by tokens on a model that is priced by tokens, and without a report in full", async () => {
    const usage = { input_tokens: 10, output_tokens: 4_160, total_tokens: 4_170 };
    gateway.upstream.on("token-painter", answerImages(1, { usage }), answerImages(1));
    const reported = await paint({ model: "token-painter" });
    expect(await chargeOf(reported)).toMatchObject({ captured: 8_330_000n, source: "reported" });
    const unreported = await paint({ model: "token-painter" });
    expect((await gateway.receiptOf(unreported)).outcome?.usage?.outputTokens).toBe(5_000);
  });

  test("case 195a: is charged by tokens without a report for the images that came, not for those it asked for", async () => {
    gateway.upstream.on("token-painter", answerImages(2), answerImages(9));
    const fewer = await paint({ model: "token-painter", n: 3 });
    expect((await gateway.receiptOf(fewer)).outcome?.usage?.outputTokens).toBe(10_000);
    const more = await paint({ model: "token-painter", n: 3 });
    expect((await gateway.receiptOf(more)).outcome?.usage?.outputTokens).toBe(15_000);
  });
});

describe("cases 196 to 201: a speech request", () => {
  /** Sends a file piece by piece, because the latest one is held back, and breaks off once `isOver`. */
  const sendsPieces = (isOver: () => boolean): Script =>
    function* () {
      yield { send: "HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n" };
      while (!isOver()) yield* [{ send: "5\r\nsound\r\n" }, { waitMs: 20 }];
      yield { leave: "reset" };
    };

  test("case 196: is charged in full, and its connection is cut, when the upstream breaks", async () => {
    let isBegun = false;
    gateway.upstream.on(
      "voice",
      sendsPieces(() => isBegun),
    );
    const response = await speak();
    expect(response.status).toBe(200);
    isBegun = true;
    await expect(response.bytes()).rejects.toThrow();
    expect(await chargeOf(response)).toMatchObject({
      captured: 180_000n,
      source: "estimated",
      outcome: "upstream_unavailable",
    });
  });

  test("case 197: moves on to the next upstream when one answers anything but audio", async () => {
    gateway.upstream.on("first", answer({ body: JSON.stringify({ error: "no" }) }));
    gateway.upstream.on("second", answerSpeech(SOUND));
    const response = await speak({ model: "voices" });
    expect(await response.bytes()).toEqual(SOUND);
    await gateway.nothingIsHeld();
    expect((await gateway.receiptOf(response)).outcome?.attempts).toHaveLength(2);
  });

  test("case 198: is charged when the client disconnects in its middle", async () => {
    const controller = new AbortController();
    gateway.upstream.on(
      "voice",
      sendsPieces(() => false),
    );
    const response = await speak({}, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    expect(await chargeOf(response)).toMatchObject({ captured: 180_000n, outcome: "client_closed" });
  });

  test("case 199: is an empty completion without a byte", async () => {
    gateway.upstream.on("voice", answerSpeech(new Uint8Array(0)));
    const response = await speak();
    await expectError(response.clone(), CHAT_ERROR, "empty_released");
    expect(await chargeOf(response)).toMatchObject({ captured: 0n });
  });

  test("case 200: streams events, and is charged the tokens of the last one", async () => {
    const usage = { input_tokens: 8, output_tokens: 100, total_tokens: 108 };
    gateway.upstream.on("token-voice", answerSpeechEvents(usage));
    const response = await speak({ model: "token-voice", stream_format: "sse" });
    const types = (await dataOf(response)).map(({ type }) => type);
    expect(types).toEqual(["speech.audio.delta", "speech.audio.delta", "speech.audio.done"]);
    expect(await chargeOf(response)).toMatchObject({ captured: 208_000n, source: "reported" });
  });

  test("case 201: is charged an estimate of its tokens where a file reports none", async () => {
    gateway.upstream.on("token-voice", answerSpeech(SOUND));
    const response = await speak({ model: "token-voice" });
    await response.bytes();
    await gateway.nothingIsHeld();
    const { outcome } = await gateway.receiptOf(response);
    expect([outcome?.source, outcome?.usage?.outputTokens]).toEqual(["estimated", 18]);
  });
});

describe("cases 202 to 210: a transcription request", () => {
  test("case 202: is charged the seconds that the upstream reports, rounded up", async () => {
    gateway.upstream.on("ears", answerTranscript({ duration: 8.01 }));
    const response = await transcribe({ response_format: "verbose_json" });
    expect(await chargeOf(response)).toMatchObject({ captured: 900_000n, source: "reported", units: 9 });
  });

  test("case 203: is answered as text in a text format", async () => {
    gateway.upstream.on("ears", answerTranscript());
    const response = await transcribe({ response_format: "srt" });
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toContain("Good morning.");
  });

  test("case 204: is streamed, and its last event follows the settlement", async () => {
    gateway.upstream.on("token-ears", answerTranscript({ usage: { input_tokens: 75, output_tokens: 5 } }));
    const response = await transcribe({ model: "token-ears", stream: "true" });
    const types = (await dataOf(response)).map(({ type }) => type);
    expect(types).toEqual(["transcript.text.delta", "transcript.text.delta", "transcript.text.done"]);
    expect(await chargeOf(response)).toMatchObject({ captured: 85_000n, source: "reported" });
  });

  test("case 204a: is charged the tokens of its play time where an answer in text reports none", async () => {
    gateway.upstream.on("token-ears", answerTranscript());
    const response = await transcribe({ model: "token-ears", response_format: "srt" }, wavFile(60));
    await gateway.nothingIsHeld();
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome).toMatchObject({ source: "estimated", usage: { inputTokens: 600 } });
  });

  test("case 205: sends the whole file again to the next upstream", async () => {
    gateway.upstream.on("first", answer({ status: 503, body: "{}" }));
    gateway.upstream.on("second", answerTranscript());
    expect((await transcribe({ model: "two-ears" })).status).toBe(200);
    const bodies = gateway.upstream.seen.map(({ bodyText }) => bodyText);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toBe(bodies[0]?.replace("\r\nfirst\r\n", "\r\nsecond\r\n"));
  });

  test("case 206: costs no more than its bytes allow, whatever the upstream reports", async () => {
    gateway.upstream.on("ears", answerTranscript({ usage: { type: "duration", seconds: 1e9 } }));
    const response = await transcribe({}, wavFile(7.5));
    expect(await chargeOf(response)).toMatchObject({
      source: "estimated",
      units: 9,
      granted: 900_000n,
      captured: 900_000n,
    });
  });

  test("case 207: holds what unreadable audio may cost, and is charged that without a report", async () => {
    gateway.upstream.on("ears", answerTranscript());
    const response = await transcribe({}, new File([new Uint8Array(15_000).fill(7)], "noise.webm"));
    expect(await chargeOf(response)).toMatchObject({ granted: 2_200_000n, captured: 2_000_000n, units: 20 });
  });

  test("case 208: is refused by the field that is wrong", async () => {
    const message = (path: string) => `The request body failed validation: ${path}`;
    const noFile = new FormData();
    noFile.append("model", "ears");
    for (const [response, path] of [
      [await transcribe({ response_format: "docx" }), "response_format"],
      [await transcribe({ stream: "yes" }), "stream"],
      [await transcribe({}, new File([], "none.wav")), "file"],
      [await send("/v1/audio/transcriptions", noFile), "file"],
    ] as const) {
      await expectError(response, CHAT_ERROR, "wrong_shape", { message: message(path) });
    }
    await expectError(await send("/v1/audio/transcriptions", "{}"), CHAT_ERROR, "wrong_shape");
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("case 209: is refused without a key before its file is read, and leaves no name in the log", async () => {
    await expectError(await transcribe({}, wavFile(1), { secret: "sk-tg-none" }), CHAT_ERROR, "unknown_key");
    gateway.upstream.on("ears", answerTranscript());
    await transcribe({ prompt: "canary-prompt" }, new File([await wavFile(1).bytes()], "canary-name.wav"));
    expect(gateway.log.text()).not.toContain("canary");
  });

  test("case 210: is not built on a model that is charged by another unit", async () => {
    await expectError(await transcribe({ model: "voice" }), CHAT_ERROR, "not_built");
    const chat = { model: "painter", messages: [{ role: "user", content: "hi" }] };
    await expectError(await send("/v1/chat/completions", JSON.stringify(chat)), CHAT_ERROR, "not_built");
  });
});
