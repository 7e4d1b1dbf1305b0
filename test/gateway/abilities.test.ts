import { describe, expect, test } from "bun:test";
import type { Capability, Route } from "../../src/domain/model.ts";
import { chooseAble } from "../../src/gateway/abilities.ts";
import type { RequestHead } from "../../src/wire/model-request.ts";
import { parseRequest } from "../../src/wire/openai-chat/request.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { scriptedModel } from "../support/test-catalog.ts";
import { createCandidates, route } from "./candidates.ts";

const HELLO = [{ role: "user", content: "Hello" }];
const plain = parseRequest(JSON.stringify({ model: "m", messages: HELLO }));

/** Returns the upstreams that stay, and those that are skipped with their reasons. */
function choose(routes: Readonly<Record<string, Partial<Route>>>, request: Partial<RequestHead> = {}) {
  const { candidates } = createCandidates(
    Object.entries(routes).map(([name, more]) => ({ ...route(name, 1), ...more })),
  );
  const windows = candidates.map((each) => ({ ...each, contextWindow: each.route.contextWindow }));
  const wanted = { model: scriptedModel("m", "openai"), request: { ...plain, ...request } };
  const { candidates: able, skipped } = chooseAble(windows, wanted);
  return {
    able: able.map(({ upstream }) => upstream.name),
    skipped: skipped?.map(({ upstream, reason }) => `${upstream} ${reason}`),
  };
}

describe("a request that needs an ability", () => {
  test("skips the routes that lack it, each with its reason", () => {
    const routes = {
      text: { can: ["tools"] },
      blind: { can: [] },
      all: { can: ["tools", "images"] },
    } as const;
    expect(choose(routes, { needs: ["tools", "images"] })).toEqual({
      able: ["all"],
      skipped: ["text cannot_images", "blind cannot_tools"],
    });
  });

  test("keeps routes of which nothing is known", () => {
    const routes = { unknown: {}, blind: { can: [] } };
    expect(choose(routes, { needs: ["images"] })).toEqual({
      able: ["unknown"],
      skipped: ["blind cannot_images"],
    });
  });

  test("keeps every route where none can", () => {
    const routes = { one: { can: ["tools"] }, other: { can: ["images"] } } as const;
    expect(choose(routes, { needs: ["tools", "images"] })).toEqual({
      able: ["one", "other"],
      skipped: undefined,
    });
  });

  test("lists at most four skipped routes, so that the receipt has room for the attempts", () => {
    const blind = { can: [] };
    const routes = { a: blind, b: blind, c: blind, d: blind, e: blind, able: {} };
    expect(choose(routes, { needs: ["audio"] }).skipped).toHaveLength(4);
  });

  test("that needs none is sent to all", () => {
    expect(choose({ one: { can: [] }, other: { can: ["tools"] } })).toEqual({
      able: ["one", "other"],
      skipped: undefined,
    });
  });
});

describe("the window of a route", () => {
  const routes = { small: { contextWindow: 8_000 }, large: {} };
  const input = { ...plain.input, textBytes: 28_000 };

  test("is skipped where a usual count of the prompt and the wanted output do not fit", () => {
    expect(choose(routes, { input, outputTokensMax: 1_000 }).able).toEqual(["small", "large"]);
    expect(choose(routes, { input, outputTokensMax: 1_001 })).toEqual({
      able: ["large"],
      skipped: ["small cannot_context_window"],
    });
  });

  test("counts the output that the route can have at all", () => {
    const limited = { small: { contextWindow: 8_000, outputTokensMax: 500 }, large: {} };
    expect(choose(limited, { input, outputTokensMax: 4_000 }).able).toEqual(["small", "large"]);
  });

  test("is skipped where its output limit leaves nothing beside the reasoning", () => {
    const limited = { small: { outputTokensMax: 2_000 }, large: {} };
    expect(choose(limited, { thinkingTokens: 1_800, outputTokensMax: 4_000 })).toEqual({
      able: ["large"],
      skipped: ["small cannot_output"],
    });
  });
});

describe("the needs of a body", () => {
  const IMAGE = "data:image/png;base64,aGk=";
  const tool = { type: "function", function: { name: "f" } };
  const chat = (more: object) => ({ model: "m", messages: HELLO, ...more });
  const parts = (...content: object[]) => chat({ messages: [{ role: "user", content }] });
  const messages = (more: object) => ({ model: "m", max_tokens: 9, messages: HELLO, ...more });
  const blocks = (...content: object[]) => messages({ messages: [{ role: "user", content }] });
  const responses = (more: object) => ({ model: "m", input: "Hello", store: false, ...more });
  const items = (...content: object[]) => responses({ input: [{ role: "user", content }] });

  test.each<["chat" | "messages" | "responses", object, readonly Capability[] | undefined]>([
    ["chat", chat({}), undefined],
    ["chat", chat({ tools: [] }), undefined],
    ["chat", chat({ tools: [tool] }), ["tools"]],
    ["chat", chat({ functions: [{ name: "f" }] }), ["tools"]],
    ["chat", parts({ type: "image_url", image_url: { url: IMAGE } }), ["images"]],
    ["chat", parts({ type: "file", file: { file_data: "JVBERg==" } }), ["documents"]],
    ["chat", parts({ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }), ["audio"]],
    ["chat", chat({ reasoning_effort: "low" }), ["reasoning"]],
    ["chat", chat({ reasoning_effort: "none", reasoning: { enabled: false } }), undefined],
    ["chat", chat({ response_format: { type: "json_object" } }), undefined],
    ["chat", chat({ response_format: { type: "json_schema", json_schema: {} } }), ["structured_output"]],
    ["messages", messages({}), undefined],
    ["messages", messages({ tools: [{ name: "f", input_schema: {} }] }), ["tools"]],
    [
      "messages",
      blocks({ type: "image", source: { type: "url", url: "https://x.example/a.png" } }),
      ["images"],
    ],
    ["messages", blocks({ type: "document", source: { type: "base64", data: "JVBERg==" } }), ["documents"]],
    ["messages", blocks({ type: "document", source: { type: "text", data: "Hello" } }), undefined],
    ["messages", messages({ thinking: { type: "enabled", budget_tokens: 1_024 } }), ["reasoning"]],
    ["messages", messages({ thinking: { type: "disabled" } }), undefined],
    ["messages", messages({ output_config: { format: { type: "json_schema" } } }), ["structured_output"]],
    ["responses", responses({}), undefined],
    ["responses", responses({ tools: [{ type: "function", name: "f" }] }), ["tools"]],
    ["responses", items({ type: "input_image", image_url: IMAGE }), ["images"]],
    ["responses", items({ type: "input_file", file_data: "JVBERg==" }), ["documents"]],
    ["responses", responses({ reasoning: { effort: "high" } }), ["reasoning"]],
    ["responses", responses({ text: { format: { type: "json_schema" } } }), ["structured_output"]],
  ])("of %s %j are %j", (surface, body, needs) => {
    const { needs: read } = WIRES[surface].parseRequest(JSON.stringify(body));
    expect(read ? [...read] : undefined).toEqual(needs ? [...needs] : undefined);
  });
});
