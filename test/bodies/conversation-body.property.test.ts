import { afterAll, expect, test } from "bun:test";
import { type Bodies, createBodies } from "../../src/bodies/bodies.ts";
import type { Body } from "../../src/bodies/body.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import type { Printed } from "../../src/bodies/open-body.ts";
import { GatewayError } from "../../src/errors.ts";
import type { PrintOptions } from "../../src/wire/format.ts";
import { encodeReasoning } from "../../src/wire/google-gemini/carried-reasoning.ts";
import { encodeHostReasoning } from "../../src/wire/host-reasoning.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { caseOf, TRAITS } from "../fuzz/cases/fuzz-case.ts";
import { stepsOf } from "../fuzz/cases/steps.ts";
import { createDraw, drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";

const CASES = 400;
/** Larger bodies are read in a worker, which knows no histories. */
const BODY_BYTES_MAX = 1024 * 1024;
const FORMATS = ["chat", "messages", "responses", "gemini"] as const;
type Format = (typeof FORMATS)[number];
type Json = Record<string, unknown>;
const LIST: Readonly<Record<Format, string>> = {
  chat: "messages",
  messages: "messages",
  responses: "input",
  gemini: "contents",
};
const PNG = `${"iVBORw0KGgo=".repeat(30)}`;
const FOREIGN = encodeHostReasoning("host", { text: "thought" });
const SENT = { model: "host-model", outputTokensMax: 77, outputLimitField: undefined, stream: false };
const OPTIONS: PrintOptions = { ...SENT, traits: TRAITS.plain };

const knowing = createBodies(createCooperativeYield());
afterAll(() => knowing.close());

test("a body whose first messages are known is read and printed as one that is parsed whole", async () => {
  const kinds = new Map<string, number>();
  for (let number = 0; number < CASES; number += 1) {
    const turns = turnsOf(number);
    if (!turns) continue;
    // An owner per case: what is known in a case comes from its earlier turns.
    for (const body of turns.bodies.filter(({ byteLength }) => byteLength <= BODY_BYTES_MAX)) {
      const seen = await everythingOf(knowing, turns.format, `owner ${number}`, body);
      const fresh = createBodies(createCooperativeYield());
      const whole = await everythingOf(fresh, turns.format, "owner", body);
      fresh.close();
      expect([number, { ...seen, isKnown: false }]).toEqual([number, { ...whole, isKnown: false }]);
      const kind = `${turns.format} ${seen.error ? "refused" : seen.isKnown ? "known" : "whole"}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  }
  // Enough bodies of each format are known, parsed whole and refused.
  for (const format of FORMATS) {
    expect(kinds.get(`${format} known`)).toBeGreaterThan(30);
    expect(kinds.get(`${format} whole`)).toBeGreaterThan(30);
    expect(kinds.get(`${format} refused`)).toBeGreaterThan(4);
  }
});

/** Returns the bodies of a conversation: two turns of a client, and a mutated one. */
function turnsOf(
  number: number,
): { readonly format: Format; readonly bodies: readonly Buffer[] } | undefined {
  const id = { seed: "conversations", number, without: new Set<string>() };
  const { client, body: mutated } = caseOf(id);
  const format = FORMATS.find((each) => each === client);
  const fields = format && readObject(mutated);
  if (!format || !fields) return undefined;
  const draw = stepsOf(id).draw("turns");
  const list = Array.isArray(fields[LIST[format]]) ? (fields[LIST[format]] as unknown[]) : [];
  const history = Array.from({ length: drawInteger(draw, 9, 24) }, (_, at) => messageOf(format, draw, at));
  const more = Array.from({ length: drawInteger(draw, 0, 14) }, (_, at) => messageOf(format, draw, at));
  const print = drawOne(draw, [printCompact, printCompact, printSpaced]);
  const usual = { model: "m", tools: toolsOf(format, draw), stream: false };
  const bodies = [history, [...history, ...more], [...history, ...more, ...list]].map((messages, turn) =>
    bodyOf(print, drawInteger(createDraw(number), 0, 2), turn === 2 ? { ...usual, ...fields } : usual, [
      LIST[format],
      messages,
    ]),
  );
  return { format, bodies: [...bodies, damaged(draw, bodies[1] ?? Buffer.of())] };
}

/** Tools come before the messages, after them, or as clients with a `system` member send them. */
function bodyOf(
  print: (value: object) => string,
  order: number,
  { tools, ...fields }: Json,
  [name, list]: readonly [string, unknown],
): Buffer {
  const { [name]: _, ...rest } = fields;
  const ordered = [
    { ...rest, tools, [name]: list },
    { [name]: list, ...rest, tools },
    { model: rest.model, [name]: list, tools, ...rest },
  ][order];
  return Buffer.from(print(ordered ?? {}));
}

/** Changes one byte, or repeats a list at the top level. */
function damaged(draw: RandomSource, body: Buffer): Buffer {
  const text = body.toString();
  const repeated = drawOne(draw, [
    '"messages":[]',
    '"input":[]',
    '"contents":[]',
    '"tools":[{}]',
    '"model":"other"',
  ]);
  const kinds = [
    () => Buffer.from(text.replace(/\}\s*$/, `,${repeated}}`)),
    () => Buffer.from(text.replace("{", `{${repeated},`)),
    () => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body]),
    () => Buffer.from(text.replaceAll('"user"', '"developer"')),
    () =>
      Buffer.from(text.replace(/\}\s*$/, ',"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_HIGH"}}')),
    () => {
      const copy = Buffer.from(body);
      copy[drawInteger(draw, 0, copy.length - 1)] = drawInteger(draw, 0, 255);
      return copy;
    },
  ];
  return drawOne(draw, kinds)();
}

const printCompact = (value: object) => JSON.stringify(value);
const printSpaced = (value: object) => JSON.stringify(value, undefined, 1);

function toolsOf(format: Format, draw: RandomSource): unknown {
  const plain = Array.from({ length: drawInteger(draw, 0, 12) }, (_, at) => toolOf(format, `tool_${at}`));
  if (format === "gemini") return draw() < 0.1 ? [...plain, { googleSearch: {} }] : plain;
  const server =
    format === "messages" ? { type: "bash_20250124", name: "bash" } : { type: "shell", name: "s" };
  return draw() < 0.1 ? [...plain, server] : plain;
}

function toolOf(format: Format, name: string): Json {
  const schema = {
    type: "object",
    properties: { path: { type: "string", description: "Größe — ".repeat(20) } },
  };
  if (format === "messages") return { name, description: "Reads", input_schema: schema };
  if (format === "gemini")
    return { functionDeclarations: [{ name, description: "Reads", parameters: schema }] };
  const described = { name, description: "Reads", parameters: schema };
  return format === "chat" ? { type: "function", function: described } : { type: "function", ...described };
}

function messageOf(format: Format, draw: RandomSource, at: number): Json {
  const text = drawOne(draw, ["plain ", 'quoted " and \\ ', "größer → ", "\u2028\n\t"]).repeat(
    drawInteger(draw, 40, 500),
  );
  const role = at % 2 === 0 ? "user" : "assistant";
  const kind = draw();
  if (format === "messages") return { role, content: kind < 0.4 ? text : blocksOf(kind, text) };
  if (format === "gemini") return { role: role === "user" ? role : "model", parts: partsOf(kind, text) };
  const image = { url: `data:image/png;base64,${PNG}` };
  if (format === "chat") {
    const parts = kind < 0.5 ? [{ type: "image_url", image_url: image }] : [{ type: "text", text }];
    return { role, content: kind < 0.4 ? text : kind < 0.98 ? parts : [{ type: "input_audio" }] };
  }
  if (kind < 0.2) return { type: "function_call_output", call_id: `call_${at}`, output: text };
  if (kind < 0.3) return { type: "reasoning", summary: [], encrypted_content: "gAAAA" };
  if (kind < 0.32) return { type: "reasoning", id: "rs_1", summary: [] };
  if (kind < 0.4) return { role, content: [{ type: "input_image", image_url: image.url }] };
  return { role, content: text };
}

function partsOf(kind: number, text: string): readonly Json[] {
  if (kind < 0.03) return [{ inlineData: { mimeType: "image/png", data: PNG } }];
  if (kind < 0.04)
    return [{ text, thoughtSignature: encodeReasoning([{ text, signature: "c2ln", redacted: undefined }]) }];
  if (kind < 0.3)
    return [{ functionCall: { name: "tool_0", args: { path: text } }, thoughtSignature: "c2ln" }];
  if (kind < 0.5) return [{ function_response: { name: "tool_0", response: { output: text } } }];
  return [{ text }, { text }];
}

function blocksOf(kind: number, text: string): readonly Json[] {
  if (kind < 0.5) return [{ type: "thinking", thinking: text, signature: kind < 0.41 ? FOREIGN : "c2ln" }];
  if (kind < 0.6) {
    const source = { type: "base64", media_type: "image/png", data: PNG };
    return [{ type: "image", source }];
  }
  if (kind < 0.62) return [{ type: "document", source: { type: "url", url: "https://example.com" } }];
  return [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text }] }];
}

function readObject(bytes: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

async function everythingOf(
  bodies: Bodies,
  format: Format,
  owner: string,
  bytes: Buffer,
): Promise<{ readonly isKnown: boolean; readonly error?: string } & Json> {
  try {
    const body = await bodies.read({ wire: WIRES[format], owner, blocks: [new Uint8Array(bytes)] });
    const printed = await body.print(format, OPTIONS);
    const again = await body.print(format, { ...OPTIONS, model: "other" });
    return {
      isKnown: typeof printed !== "string",
      printed: textOf(printed),
      again: textOf(again),
      facts: factsOf(body),
      beginning: body.beginning(),
      plan: await outcomeOf(async () => {
        const [plan] = await body.plan([{ surface: "chat", options: [OPTIONS] }]);
        return plan && "textBytes" in plan ? plan.textBytes : plan;
      }),
      prompt: await outcomeOf(async () => body.promptText()),
      count: await outcomeOf(async () => body.printCount({ model: "m" })),
    };
  } catch (error) {
    return { isKnown: false, error: describeError(error) };
  }
}

/** Without white space: a list that lost a message is printed anew, so that the space between others may differ. */
function textOf(printed: Printed): string {
  const text = typeof printed === "string" ? printed : Buffer.concat(printed).toString();
  return text.replaceAll(/\s/g, "");
}

function factsOf({ request }: Body): Json {
  const hidden = new Set(["text", "promptText", "readChat", "readEchoedFields", "beginning"]);
  return Object.fromEntries(Object.entries(request).filter(([name]) => !hidden.has(name)));
}

async function outcomeOf(act: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await act() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof GatewayError)) throw error;
  return `${error.kind}: ${error.publicMessage}`;
}
