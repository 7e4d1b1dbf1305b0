import { beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { parseUnitPrice } from "../../src/domain/money.ts";
import { wavFile } from "../support/audio-files.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { EVENT_STREAM } from "../support/scripted-answers.ts";
import { answerEdits, answerTranslation, answerVariation, partialImage } from "../support/scripted-units.ts";
import { scriptedModel, unitModel } from "../support/test-catalog.ts";

const gateway = gatewayForTests({
  config: { defaultModels: { images: "painter" } },
  models: [
    unitModel("painter", { name: "image", picos: parseUnitPrice("0.04") }),
    scriptedModel("gpt-image", "openai", { outputTokensMax: 5_000, outputTokensDefault: 5_000 }),
    unitModel("ears", { name: "second", picos: parseUnitPrice("0.0001") }),
  ],
});
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const picture = (name = "cat.png") => new File([new Uint8Array(64)], name, { type: "image/png" });
const USAGE = { input_tokens: 300, output_tokens: 1_000, total_tokens: 1_300 };

beforeEach(() => {
  gateway.upstream.on("painter", answerEdits(1));
  gateway.upstream.on("gpt-image", answerEdits(1, { usage: USAGE }));
  gateway.upstream.on("ears", answerTranslation());
});

interface FormOptions {
  readonly path?: string;
  readonly files?: readonly (readonly [field: string, file: File])[];
}

/** Sends a form; the field `model` is "painter" unless it is given. */
function postForm(
  fields: readonly (readonly [name: string, value: string])[],
  { path = "/v1/images/edits", files = [["image", picture()]] }: FormOptions = {},
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of [["model", "painter"], ["prompt", "A hat"], ...fields] as const)
    form.append(name, value);
  for (const [field, file] of files) form.append(field, file);
  const headers = { authorization: `Bearer ${gateway.secret}` };
  return fetch(gateway.url + path, { method: "POST", headers, body: form });
}

async function chargedOf(call: { withResponse(): Promise<{ response: Response }> }) {
  return gateway.receiptOf((await call.withResponse()).response);
}

describe("the OpenAI SDK", () => {
  test("edits several images with a mask, charged by the image", async () => {
    const image = [picture("a.png"), picture("b.png")];
    const call = openai().images.edit({ model: "painter", prompt: "A hat", image, mask: picture() });
    expect((await call).data).toHaveLength(1);
    expect(await chargedOf(call)).toMatchObject({
      captured: 40_000_000n,
      request: { surface: "image_edits" },
      outcome: { usage: { units: 1 } },
    });
  });

  test("edits under token prices: each image is held for four times its tokens", async () => {
    const call = openai().images.edit({ model: "gpt-image", prompt: "A hat", image: picture() });
    await call;
    // 8,000 tokens and half of the 5 bytes of prompt, and 5,000 tokens of output, at 2,000 each.
    expect(await chargedOf(call)).toMatchObject({ captured: 2_300_000n, granted: 26_006_000n });
  });

  test("streams an edit with partial images", async () => {
    const call = openai().images.edit({
      ...{ model: "gpt-image", prompt: "A hat", image: picture(), stream: true, partial_images: 1 },
    });
    const types: string[] = [];
    for await (const event of await call) types.push(event.type);
    expect(types).toEqual(["image_edit.partial_image", "image_edit.completed"]);
    expect(await chargedOf(call)).toMatchObject({ captured: 210_000n });
  });

  test("varies an image of the default model", async () => {
    gateway.upstream.on("painter", answerVariation());
    const call = openai().images.createVariation({ image: picture() });
    expect((await call).data).toHaveLength(1);
    expect(await chargedOf(call)).toMatchObject({ captured: 40_000_000n });
  });

  test("translates audio, charged by its play time", async () => {
    const call = openai().audio.translations.create({ model: "ears", file: wavFile(7.5) });
    expect((await call).text).toBe("Good morning.");
    expect(await chargedOf(call)).toMatchObject({ captured: 800_000n, granted: 900_000n });
  });
});

test("a broken stream of an edit is charged for the image that began, and for the one that was sent", async () => {
  const event = partialImage(0, { type: "image_edit.partial_image" });
  const body = `data: ${JSON.stringify(event)}\n\n`;
  gateway.upstream.on("gpt-image", answer({ headers: EVENT_STREAM, body, end: "close" }));
  const response = await openai()
    .images.edit({ model: "gpt-image", prompt: "A hat", image: picture(), stream: true })
    .asResponse();
  await response.text();
  await gateway.nothingIsHeld();
  // 2,002 tokens of input at 1,000, and all 5,000 tokens of output.
  expect(await gateway.receiptOf(response)).toMatchObject({
    captured: 12_002_000n,
    outcome: { source: "estimated", outcome: "upstream_unavailable" },
  });
});

describe("a hostile form", () => {
  const file = ["image", picture()] as const;

  test.each<[name: string, fields: readonly (readonly [string, string])[], path: string]>([
    [
      "repeats the number",
      [
        ["n", "1"],
        ["n", "10"],
      ],
      "n",
    ],
    ["spells the number as a list", [["n[]", "10"]], "n"],
    ["spells the number in another case", [["N", "10"]], "n"],
    ["spells the number with a space", [[" n", "10"]], "n"],
    ["asks for more than ten images", [["n", "11"]], "n"],
    ["asks for a fraction", [["n", "1.5"]], "n"],
    ["sends an image as text", [["image", "https://x.example/a.png"]], "image"],
    ["names a tier", [["service_tier", "priority"]], "service_tier"],
    ["asks for a vector image", [["svg", "true"]], "svg"],
    ["asks for a stream by another word", [["stream", "yes"]], "stream"],
    [
      "asks for partial images by image",
      [
        ["stream", "true"],
        ["partial_images", "2"],
      ],
      "partial_images",
    ],
  ])("that %s is refused by the field", async (_name, fields, path) => {
    const response = await postForm(fields);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain(path);
    expect(gateway.upstream.seen).toHaveLength(0);
  });

  test.each<[name: string, files: readonly (readonly [string, File])[]]>([
    ["has no file", []],
    ["has an empty file", [["image", new File([], "a.png")]]],
    ["has a file of another field", [file, ["model", picture()]]],
    ["has two masks", [file, ["mask", picture()], ["mask", picture()]]],
    ["has 17 images", Array.from({ length: 17 }, () => ["image[]", picture()] as const)],
    ["has 18 files", Array.from({ length: 18 }, () => file)],
  ])("that %s is refused", async (_name, files) => {
    expect((await postForm([], { files })).status).toBe(422);
    expect(gateway.upstream.seen).toHaveLength(0);
  });

  test("of thousands of parts is refused before it is parsed", async () => {
    const fields = Array.from({ length: 3_000 }, (_, index) => [`f${index}`, ""] as const);
    expect((await postForm(fields)).status).toBe(422);
  });

  test("keeps what concerns a stream from the upstream without one", async () => {
    const response = await postForm([
      ["partial_images", "3"],
      ["user", "u1"],
    ]);
    expect(response.status).toBe(200);
    expect(gateway.upstream.seen.at(-1)?.bodyText).not.toContain("partial_images");
    expect((await gateway.receiptOf(response)).scopes).toContainEqual({ kind: "end_user", id: "u1" });
  });

  test("asks for a stream of a variation or a translation in vain", async () => {
    const stream = [["stream", "true"]] as const;
    expect((await postForm(stream, { path: "/v1/images/variations" })).status).toBe(422);
    const files = [["file", wavFile(1)]] as const;
    expect((await postForm(stream, { path: "/v1/audio/translations", files })).status).toBe(422);
  });
});
