import { afterAll, expect, test } from "bun:test";
import { createBodies } from "../../src/bodies/bodies.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import { openaiTranscriptions as wire } from "../../src/wire/untranslated/transcriptions.ts";
import { mp3Bytes, waveBytes } from "../support/audio-files.ts";

const bodies = createBodies(createCooperativeYield());
afterAll(() => bodies.close());

async function readForm(owner: string, file: Buffer) {
  const form = new FormData();
  form.append("model", "ears");
  form.append("file", new File([Uint8Array.from(file)], "speech"));
  const body = await bodies.read({ wire, owner, blocks: [await new Response(form).bytes()] });
  if (!body.measure) throw new Error("A form has a file to measure");
  return { ...body, print: body.print.bind(body), measure: body.measure.bind(body) };
}

test("files of one account delay the measuring of another's by one", async () => {
  const large = await Promise.all(Array.from({ length: 8 }, () => readForm("many", mp3Bytes(200_000))));
  const small = await readForm("few", waveBytes(1));
  const order: string[] = [];
  const measured = large.map((body) => body.measure().then(() => order.push("many")));
  await small.measure().then(() => order.push("few"));
  expect(order.indexOf("few")).toBeLessThanOrEqual(2);
  await Promise.all(measured);
});

test("a measured form is printed with every byte of its file", async () => {
  const file = waveBytes(7.5);
  const body = await readForm("one", file);
  expect((await body.measure()).units).toEqual({ name: "second", held: 9, usual: 8 });
  const printed = Buffer.concat(
    (await body.print("transcriptions", {
      model: "host",
      outputTokensMax: 0,
      outputLimitField: undefined,
      stream: false,
      traits: { reasoning: "none", sampling: true },
    })) as readonly Uint8Array[],
  );
  expect(printed.includes(file)).toBe(true);
});
