import { beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { parseUnitPrice } from "../../src/domain/money.ts";
import { wavFile } from "../support/audio-files.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import {
  answerImages,
  answerModeration,
  answerRerank,
  answerSpeech,
  answerTranscript,
} from "../support/scripted-units.ts";
import { scriptedModel, unitModel } from "../support/test-catalog.ts";

const gateway = gatewayForTests({
  config: { defaultModels: { images: "painter", moderations: "judge" } },
  models: [
    unitModel("ranker", { name: "search", picos: parseUnitPrice("0.002") }),
    scriptedModel("judge", "openai", { outputTokensMax: 0, outputTokensDefault: 0 }),
    unitModel("painter", { name: "image", picos: parseUnitPrice("0.04") }),
    unitModel("voice", { name: "character", picos: parseUnitPrice("0.000015") }),
    unitModel("ears", { name: "second", picos: parseUnitPrice("0.0001") }),
  ],
});
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const SOUND = new Uint8Array(20_000).map((_, index) => index % 251);

beforeEach(() => {
  gateway.upstream.on("ranker", answerRerank(1));
  gateway.upstream.on("judge", answerModeration());
  gateway.upstream.on("painter", answerImages(2));
  gateway.upstream.on("voice", answerSpeech(SOUND, { pieces: [7_000] }));
  gateway.upstream.on("ears", answerTranscript());
});

async function chargedOf(call: { withResponse(): Promise<{ response: Response }> }) {
  const { response } = await call.withResponse();
  return { response, receipt: await gateway.receiptOf(response) };
}

describe("cases 181 to 186: the OpenAI SDK on routes that are priced by unit:", () => {
  test("case 181: images are generated and charged by number", async () => {
    const call = openai().images.generate({ model: "painter", prompt: "A cat", n: 2 });
    expect((await call).data?.map(({ b64_json }) => b64_json)).toEqual(["aW1hZ2U=", "aW1hZ2U="]);
    const { receipt } = await chargedOf(call);
    expect(receipt).toMatchObject({ captured: 80_000_000n, granted: 80_000_000n });
    expect(receipt.outcome).toMatchObject({ source: "reported", usage: { units: 2 } });
  });

  test("case 182: speech arrives byte for byte and is charged by code point", async () => {
    const call = openai().audio.speech.create({ model: "voice", voice: "alloy", input: "Hé 😀" });
    const response = await call;
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(await response.bytes()).toEqual(SOUND);
    await gateway.nothingIsHeld();
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ captured: 60_000n, granted: 60_000n });
    expect(receipt.outcome).toMatchObject({ source: "estimated", usage: { units: 4 } });
  });

  test("case 183: a WAV file is transcribed and charged by its play time", async () => {
    const call = openai().audio.transcriptions.create({ model: "ears", file: wavFile(7.5), language: "en" });
    expect((await call).text).toBe("Good morning.");
    const { receipt } = await chargedOf(call);
    expect(receipt).toMatchObject({ captured: 800_000n, granted: 900_000n });
    expect(receipt.outcome).toMatchObject({ source: "estimated", usage: { units: 8 } });
    expect(gateway.upstream.seen.at(-1)?.bodyText).toContain('name="language"\r\n\r\nen\r\n');
  });

  test("images and moderations without a model are answered by the route's default model", async () => {
    const painted = openai().images.generate({ prompt: "A cat", n: 2 });
    expect((await painted).data).toHaveLength(2);
    const image = await chargedOf(painted);
    expect(image.receipt).toMatchObject({ captured: 80_000_000n });
    const judged = openai().moderations.create({ input: "Hello there." });
    expect((await judged).model).toBe("judge");
    expect((await chargedOf(judged)).receipt.outcome).toMatchObject({ usage: { inputTokens: 3 } });
    const ranked = openai().post("/rerank", { body: { query: "What?", documents: ["one"] } });
    expect(await ranked.catch((reason: unknown) => reason)).toMatchObject({ status: 422 });
  });

  test("case 184: a moderation is judged and charged by tokens", async () => {
    const call = openai().moderations.create({ model: "judge", input: "Hello there." });
    expect((await call).results[0]?.flagged).toBe(false);
    expect((await chargedOf(call)).receipt.outcome).toMatchObject({
      source: "estimated",
      usage: { inputTokens: 3 },
    });
  });
});
