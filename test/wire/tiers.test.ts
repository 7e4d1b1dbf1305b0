import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../src/domain/chat-event.ts";
import type { Tier } from "../../src/domain/tiers.ts";
import { bedrockConverse } from "../../src/wire/bedrock-converse/format.ts";
import type { EgressCodec, PrintOptions } from "../../src/wire/format.ts";
import { googleGemini } from "../../src/wire/google-gemini/format.ts";
import { chatOf, textOf, turnOf } from "./chat-request.ts";

const OPTIONS: PrintOptions = {
  model: "m",
  outputTokensMax: 9,
  outputLimitField: undefined,
  stream: false,
  traits: { reasoning: "none", sampling: true },
};

function codec({ egress }: { readonly egress: EgressCodec | undefined }): EgressCodec {
  if (!egress) throw new Error("The format is never translated to");
  return egress;
}

const print = (format: Parameters<typeof codec>[0], tier: Tier | "auto" | undefined) =>
  JSON.parse(
    codec(format).printRequest(chatOf({ turns: [turnOf("user", textOf("hi"))] }), { ...OPTIONS, tier }),
  );
const tiersOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.kind === "tier" ? [event.tier] : []));

describe("Gemini", () => {
  const answer = (usage: object) => ({
    candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, ...usage },
  });

  test.each<[usage: object, tiers: readonly string[]]>([
    [{ serviceTier: "priority" }, ["priority"]],
    [{ serviceTier: "SERVICE_TIER_FLEX" }, ["flex"]],
    [{ serviceTier: "standard" }, ["standard"]],
    [{ trafficType: "ON_DEMAND" }, ["standard"]],
    [{ trafficType: "ON_DEMAND_PRIORITY" }, ["priority"]],
    [{ trafficType: "PROVISIONED_THROUGHPUT" }, ["scale"]],
    [{ trafficType: "TRAFFIC_TYPE_UNSPECIFIED" }, []],
    [{ serviceTier: 7 }, []],
    [{ serviceTier: "gold" }, ["unknown"]],
    [{}, []],
  ])("reports by %j the tiers %j", (usage, tiers) => {
    expect(tiersOf(codec(googleGemini).readWhole(JSON.stringify(answer(usage))))).toEqual([
      ...tiers,
    ] as never);
    const reader = codec(googleGemini).readStream();
    const data = JSON.stringify(answer(usage));
    expect(
      tiersOf([...reader.read({ event: undefined, data }), ...reader.read({ event: undefined, data })]),
    ).toEqual([...tiers] as never);
  });

  test("is asked for a tier by name, and for none by auto", () => {
    expect(print(googleGemini, "flex").serviceTier).toBe("flex");
    expect(print(googleGemini, "auto")).not.toHaveProperty("serviceTier");
    expect(print(googleGemini, undefined)).not.toHaveProperty("serviceTier");
  });
});

describe("Converse", () => {
  const answer = (members: object) =>
    JSON.stringify({
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1 },
      ...members,
    });

  test.each<[members: object, tiers: readonly string[]]>([
    [{ serviceTier: { type: "priority" } }, ["priority"]],
    [{ serviceTier: { type: "default" } }, ["standard"]],
    [{ serviceTier: { type: "reserved" } }, ["scale"]],
    [{ performanceConfig: { latency: "optimized" } }, ["optimized"]],
    [{ performanceConfig: { latency: "standard" } }, []],
    [{ serviceTier: "priority" }, []],
    [{}, []],
  ])("reports by %j the tiers %j", (members, tiers) => {
    expect(tiersOf(codec(bedrockConverse).readWhole(answer(members)))).toEqual([...tiers] as never);
    const reader = codec(bedrockConverse).readStream();
    const usage = { inputTokens: 1, outputTokens: 1 };
    reader.read({ event: "messageStop", data: '{"stopReason":"end_turn"}' });
    const data = JSON.stringify({ usage, ...members });
    expect(tiersOf(reader.read({ event: "metadata", data }))).toEqual([...tiers] as never);
  });

  test("is asked for a tier in one of two members", () => {
    expect(print(bedrockConverse, "priority").serviceTier).toEqual({ type: "priority" });
    expect(print(bedrockConverse, "optimized").performanceConfig).toEqual({ latency: "optimized" });
    expect(print(bedrockConverse, "auto")).not.toHaveProperty("serviceTier");
  });
});
