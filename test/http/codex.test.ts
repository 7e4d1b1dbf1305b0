import { describe, expect, test } from "bun:test";
import { dataOf, objectOf, post, RESPONSES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";

const traits = { reasoning: "adaptive", sampling: false } as const;
const gateway = gatewayForTests({
  models: [
    scriptedModel("thinker", "anthropic", {
      routes: [scriptedRoute("scripted-anthropic", "thinker", { traits })],
    }),
    scriptedModel("chat", "openai"),
    scriptedModel("claude", "anthropic"),
  ],
});

const ask = (body: Record<string, unknown>) => post(gateway, RESPONSES, body);
const seen = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");

describe("Codex", () => {
  test("case 71: may send its tools and options, and its custom tool works", async () => {
    const tools = [
      { type: "function", name: "exec_command", parameters: { type: "object" }, strict: false },
      {
        type: "custom",
        name: "apply_patch",
        description: "Edits.",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
      {
        type: "namespace",
        name: "multi_agent_v1",
        description: "",
        tools: [{ type: "function", name: "wait_agent" }],
      },
      { type: "tool_search", execution: "client", parameters: {} },
      { type: "web_search", external_web_access: true },
    ];
    const codex = {
      tools,
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "k",
      client_metadata: { a: "b" },
      stream: true,
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "You code." }] },
        { role: "user", content: "Patch." },
      ],
    };
    const patch = { name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' };
    for (const model of ["chat", "claude"]) {
      gateway.upstream.on(model, answerWith({ tool: patch, usage: { input: 11, output: 7 } }));
      const events = await dataOf(await ask({ ...codex, model }));
      expect(events.at(-1)).toMatchObject({
        type: "response.completed",
        response: { output: [{ type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch" }] },
      });
      const names = JSON.stringify(seen().tools);
      expect(names).toContain("multi_agent_v1__wait_agent");
      expect(names).not.toContain("web_search");
      expect(JSON.stringify(seen())).toContain("You code.");
    }
  });

  test("returns the encrypted reasoning of Anthropic unchanged", async () => {
    const include = ["reasoning.encrypted_content"];
    const tools = [{ type: "function", name: "look_up", parameters: { type: "object", properties: {} } }];
    const tool = { name: "look_up", arguments: '{"city":"Oslo"}' };
    const usage = { input: 11, output: 7 };
    gateway.upstream.on("thinker", answerWith({ tool, usage, reasoning: "I must look." }), answerWith());
    const first = await objectOf(
      await ask({ model: "thinker", include, tools, reasoning: { summary: "auto" } }),
    );
    const output = first.output as Record<string, unknown>[];
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ text: "I must look." }] },
      { type: "function_call" },
    ]);
    const result = { type: "function_call_output", call_id: output[1]?.call_id, output: "Rain." };
    const input = [{ role: "user", content: "How is Oslo?" }, ...output, result];
    expect((await ask({ model: "thinker", include, tools, input })).status).toBe(200);
    const thinking = { type: "thinking", thinking: "I must look.", signature: "c2lnbmF0dXJl" };
    expect(seen().messages[1].content[0]).toEqual(thinking);
  });
});

test("case 72: thirty retries of an agent at a failing model are free and respect the concurrency limit", async () => {
  const { secret } = await gateway.newKey({ limits: { concurrentRequests: 2 } });
  const before = await gateway.balances();
  const { opened, open } = gate();
  gateway.upstream.on("chat", answer({ status: 500, body: "{}", gate: opened }));
  const refused: Response[] = [];
  const { promise: allRefused, resolve } = Promise.withResolvers<void>();
  const tries = Array.from({ length: 30 }, async () => {
    const response = await ask({ secret, stream: true });
    if (response.status === 429 && refused.push(response) === 28) resolve();
    return response.status;
  });
  await Promise.all([allRefused, gateway.upstream.waitForSeen(2)]);
  expect(gateway.upstream.seen).toHaveLength(2);
  open();
  expect((await Promise.all(tries)).filter((status) => status === 502)).toHaveLength(2);
  await gateway.nothingIsHeld();
  expect(await gateway.balances()).toEqual(before);
});
