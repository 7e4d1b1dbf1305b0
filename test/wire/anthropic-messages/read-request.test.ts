import { describe, expect, test } from "bun:test";
import type { TextPart } from "../../../src/domain/chat-request.ts";
import { GatewayError } from "../../../src/errors.ts";
import { readChatRequest } from "../../../src/wire/anthropic-messages/ingress/read-request.ts";

/** One character longer than a name may be. */
const LONG_NAME = "n".repeat(257);
const HI = { role: "user", content: "hi" };

function read(members: object) {
  return readChatRequest({ model: "m", max_tokens: 100, messages: [HI], ...members });
}

function partsOf(...content: unknown[]) {
  return read({ messages: [{ role: "user", content }] }).turns[0]?.parts;
}

function assistantPartsOf(...content: unknown[]) {
  return read({ messages: [HI, { role: "assistant", content }] }).turns[1]?.parts;
}

function errorOf(members: object): GatewayError {
  try {
    read(members);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("The body was accepted");
}

const text = (words: string): TextPart => ({ kind: "text", text: words, cache: undefined });

describe("the turns of a messages body", () => {
  test("keep the client's order behind the system prompt", () => {
    const { turns } = read({
      system: "rules",
      messages: [
        HI,
        { role: "assistant", content: "yes" },
        { role: "system", content: "environment" },
        { role: "user", content: [{ type: "text", text: "go" }] },
      ],
    });
    expect(turns).toEqual([
      { role: "system", parts: [text("rules")] },
      { role: "user", parts: [text("hi")] },
      { role: "assistant", parts: [text("yes")] },
      { role: "system", parts: [text("environment")] },
      { role: "user", parts: [text("go")] },
    ]);
  });

  test("case 62: omit the billing header of a coding agent's system prompt", () => {
    const { turns } = read({
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli;" },
        { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      messages: [{ role: "system", content: "environment" }, HI],
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      tools: [{ name: "Bash", description: "run", input_schema: { type: "object" }, defer_loading: true }],
    });
    expect(turns[0]).toEqual({
      role: "system",
      parts: [{ kind: "text", text: "You are an agent.", cache: { ttl: "1h" } }],
    });
    expect(turns[1]).toEqual({ role: "system", parts: [text("environment")] });
  });

  test("keep a system prompt of several lines that begins like a billing header", () => {
    const system = "x-anthropic-billing-header: 1\nYou are an agent.";
    expect(read({ system }).turns[0]?.parts).toEqual([text(system)]);
  });

  test("are left out when empty, and a body without readable turns is rejected", () => {
    const empty = { role: "user", content: [{ type: "text", text: "" }] };
    expect(read({ messages: [empty, HI, { role: "assistant", content: null }] }).turns).toHaveLength(1);
    expect(errorOf({ messages: [empty] })).toMatchObject({ kind: "wrong_shape" });
    expect(errorOf({ messages: [empty] }).publicMessage).toEndWith(": messages");
  });

  test("omit a system message for one turn after the next user message", () => {
    const note = { role: "system", content: "note", clear_at: "next_user_message" };
    const roles = (messages: unknown[]) => read({ messages }).turns.map(({ role }) => role);
    expect(roles([HI, note])).toEqual(["user", "system"]);
    expect(roles([HI, note, { role: "assistant", content: "a" }, HI])).toEqual(["user", "assistant", "user"]);
  });
});

describe("the blocks of a messages body", () => {
  test("include images as data and as addresses", () => {
    const data = { type: "base64", media_type: "image/png", data: "AA==" };
    const url = { type: "url", url: "https://example.com/a.png" };
    expect(partsOf({ type: "image", source: data }, { type: "image", source: url })).toEqual([
      {
        kind: "image",
        source: { kind: "inline", mediaType: "image/png", data: "AA==" },
        detail: undefined,
        cache: undefined,
        path: "messages[0].content[0]",
      },
      {
        kind: "image",
        source: { kind: "url", url: url.url },
        detail: undefined,
        cache: undefined,
        path: "messages[0].content[1]",
      },
    ]);
  });

  test("include documents as data, as text and as addresses", () => {
    const pdf = { type: "base64", media_type: "application/pdf", data: "AA==" };
    const plain = { type: "text", media_type: "text/plain", data: "words" };
    const remote = { type: "url", url: "https://example.com/a.pdf" };
    const document = (source: object, more: object = {}) => ({ type: "document", source, ...more });
    expect(partsOf(document(pdf, { title: "a.pdf" }), document(plain), document(remote))).toMatchObject([
      { kind: "document", name: "a.pdf", source: { kind: "inline", mediaType: "application/pdf" } },
      { kind: "document", name: undefined, source: { kind: "text", text: "words" } },
      { kind: "document", source: { kind: "url", url: remote.url }, path: "messages[0].content[2]" },
    ]);
  });

  test("normalise media types, and decode text documents", () => {
    const inline = (media_type: string, data: string) => ({ type: "base64", media_type, data });
    const picture = { type: "image", source: inline("IMAGE/JPG; x=y", "AA==") };
    const note = { type: "document", source: inline("Text/Plain;charset=utf-8", "w6TDtg=="), title: "n" };
    expect(partsOf(picture, note)).toMatchObject([
      { kind: "image", source: { kind: "inline", mediaType: "image/jpeg", data: "AA==" } },
      { kind: "document", source: { kind: "text", text: "äö" }, name: "n" },
    ]);
  });

  test("are untranslatable with an address outside the web, and the error names its path", () => {
    for (const type of ["image", "document"]) {
      const source = { type: "url", url: "file:///etc/passwd" };
      const refusal = errorOf({ messages: [{ role: "user", content: [{ type, source }] }] });
      expect(refusal).toMatchObject({ kind: "untranslatable" });
      expect(refusal.publicMessage).toContain("messages[0].content[0].source.url");
    }
  });

  test("replace a document of blocks by its title, its context and the blocks", () => {
    const image = { type: "image", source: { type: "url", url: "https://example.com" } };
    const content = [{ type: "text", text: "one" }, image, { type: "text", text: "two" }];
    const block = { type: "document", source: { type: "content", content }, title: "T", context: "C" };
    expect(partsOf(block)).toMatchObject([
      text("T"),
      text("C"),
      text("one"),
      { kind: "image", path: "messages[0].content[0].source.content[1]" },
      text("two"),
    ]);
    expect(partsOf({ type: "document", source: { type: "content", content: "all" } })).toEqual([text("all")]);
  });

  test("include calls and results with their cache marks", () => {
    const { turns } = read({
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: { a: [1] } }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              is_error: true,
              content: [
                { type: "text", text: "no" },
                { type: "tool_reference", tool_name: "g" },
              ],
              cache_control: { type: "ephemeral" },
            },
            { type: "tool_result", tool_use_id: "u", content: "text" },
            { type: "tool_result", tool_use_id: "v" },
          ],
        },
      ],
    });
    expect(turns[0]?.parts).toEqual([
      { kind: "tool_call", id: "t", name: "f", input: '{"a":[1]}', cache: undefined },
    ]);
    const result = { kind: "tool_result", isError: false, cache: undefined } as const;
    expect(turns[1]?.parts).toEqual([
      { ...result, callId: "t", parts: [text("no"), text("g")], isError: true, cache: { ttl: undefined } },
      { ...result, callId: "u", parts: [text("text")] },
      { ...result, callId: "v", parts: [] },
    ]);
  });

  test("keep the signature of thinking, and redacted thinking as data", () => {
    expect(
      assistantPartsOf(
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "thinking", thinking: "", signature: "c2ln" },
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "redacted_thinking", data: "eA==" },
      ),
    ).toEqual([
      { kind: "reasoning", text: "hm", signature: "c2ln", redacted: undefined },
      { kind: "reasoning", text: "", signature: "c2ln", redacted: undefined },
      { kind: "reasoning", text: "hm", signature: undefined, redacted: undefined },
      { kind: "reasoning", text: "", signature: undefined, redacted: "eA==" },
    ]);
  });

  test("turn readable results of server tools into text, and drop the calls of those tools", () => {
    const found = [{ type: "web_search_result", title: "T", url: "https://a.b", encrypted_content: "XXXX" }];
    const file = { type: "base64", media_type: "application/pdf", data: "XXXX" };
    const page = { type: "document", title: "P", source: { type: "text", data: "page" } };
    const parts = assistantPartsOf(
      { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
      { type: "web_search_tool_result", tool_use_id: "s", content: found },
      { type: "mcp_tool_use", id: "m", name: "f", server_name: "x", input: {} },
      { type: "mcp_tool_result", tool_use_id: "m", content: [{ type: "text", text: "mcp" }] },
      { type: "web_fetch_tool_result", content: { type: "web_fetch_result", content: page } },
      { type: "web_fetch_tool_result", content: { content: { type: "document", source: file } } },
      { type: "code_execution_tool_result", content: { stdout: "out", stderr: "", return_code: 0 } },
      { type: "tool_search_tool_result", content: { tool_references: [{ tool_name: "f" }] } },
      { type: "compaction", content: "so far", encrypted_content: "XXXX" },
      { type: "text", text: "answer" },
    );
    expect(parts).toEqual(
      ["T\nhttps://a.b\n", "mcp\n", "P\npage\n", "out\n", "so far\n", "answer"].map(text),
    );
  });

  test("turn search results into text, in user messages and in tool results", () => {
    const found = {
      type: "search_result",
      source: "kb/1",
      title: "T",
      content: [{ type: "text", text: "words" }],
    };
    expect(partsOf(found)).toEqual([text("kb/1\nT\nwords\n")]);
    const [result] = partsOf({ type: "tool_result", tool_use_id: "t", content: [found] }) ?? [];
    expect(result).toMatchObject({ parts: [{ text: "kb/1\nT\nwords\n" }] });
  });

  test("drop tool additions by reference, because all tools are offered anyway", () => {
    const change = { type: "tool_addition", tool: { type: "tool_reference", name: "f" } };
    const { turns } = read({ messages: [HI, { role: "system", content: [change] }] });
    expect(turns).toHaveLength(1);
    const definition = { type: "tool_addition", tool: { type: "tool_definition", definition: {} } };
    expect(errorOf({ messages: [HI, { role: "system", content: [definition] }] }).kind).toBe(
      "untranslatable",
    );
  });
});

describe("the tools of a messages body", () => {
  const tool = { name: "f", description: "does", input_schema: { type: "object", properties: {} } };

  test("keep their schemas, without the tools that run at the provider", () => {
    const { tools } = read({
      tools: [
        { ...tool, strict: true, cache_control: { type: "ephemeral", ttl: "5m" }, input_examples: [{}] },
        { type: "web_search_20250305", name: "web_search" },
        { type: "custom", name: "g" },
      ],
    });
    const schema = { type: "object", properties: {} };
    expect(tools).toEqual([
      { name: "f", description: "does", schema, strict: true, isFreeForm: false, cache: { ttl: "5m" } },
      { name: "g", description: undefined, schema, strict: undefined, isFreeForm: false, cache: undefined },
    ]);
  });

  test("have no tool choice when none is left", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const tool_choice = { type: "auto", disable_parallel_tool_use: true };
    expect(read({ tools: [search], tool_choice })).toMatchObject({
      tools: [],
      toolChoice: undefined,
      parallelToolCalls: undefined,
    });
  });

  test("are untranslatable when the choice forces one that runs at the provider", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const forced = { type: "tool", name: "web_search" };
    expect(errorOf({ tools: [tool, search], tool_choice: forced })).toMatchObject({
      kind: "untranslatable",
    });
    expect(errorOf({ tools: [search], tool_choice: { type: "any" } }).kind).toBe("untranslatable");
  });

  test.each<[object, object]>([
    [{ type: "auto" }, { toolChoice: { kind: "auto" }, parallelToolCalls: undefined }],
    [{ type: "any" }, { toolChoice: { kind: "required" } }],
    [{ type: "none" }, { toolChoice: { kind: "none" } }],
    [{ type: "tool", name: "f" }, { toolChoice: { kind: "tool", name: "f" } }],
    [{ type: "auto", disable_parallel_tool_use: true }, { parallelToolCalls: false }],
  ])("have a neutral choice for %j", (tool_choice, expected) => {
    expect(read({ tools: [tool], tool_choice })).toMatchObject(expected);
  });
});

describe("the settings of a messages body", () => {
  test.each<[object, object]>([
    [
      { thinking: { type: "enabled", budget_tokens: 2000 } },
      { thinking: "enabled", budgetTokens: 2000, isShown: true },
    ],
    [{ thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" } }, { isShown: false }],
    [{ thinking: { type: "adaptive" } }, { thinking: "adaptive", budgetTokens: undefined, isShown: true }],
    [{ thinking: { type: "adaptive", display: "summarized" } }, { isShown: true }],
    [{ thinking: { type: "disabled" } }, { thinking: "disabled", isShown: false }],
    [{ thinking: { type: "newer" } }, { thinking: undefined, isShown: false }],
    [{ output_config: { effort: "xhigh" } }, { effort: "xhigh", thinking: undefined, isShown: false }],
    [{ output_config: { effort: "newer" } }, { effort: undefined }],
  ])("include the reasoning of %j", (members, expected) => {
    expect(read(members).reasoning).toMatchObject(expected);
  });

  test("include sampling, stop sequences and the user id", () => {
    const user_id = '{"device_id":"d","account_uuid":""}';
    expect(
      read({ temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ["a", "\n"], metadata: { user_id } }),
    ).toMatchObject({
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      stopSequences: ["a", "\n"],
      endUser: user_id,
    });
  });

  test.each(["output_config", "output_format"])("include the answer's schema from %s", (field) => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const members = field === "output_config" ? { output_config: { format } } : { output_format: format };
    expect(read(members).format).toEqual({
      kind: "schema",
      name: undefined,
      description: undefined,
      schema: { type: "object" },
      strict: undefined,
    });
  });

  test("omit empty stop sequences, which no other format accepts", () =>
    expect(read({ stop_sequences: ["", "a", ""] }).stopSequences).toEqual(["a"]));

  test("omit fields that the client does not miss", () => {
    const plain = read({});
    const members = {
      betas: ["x"],
      service_tier: "auto",
      context_management: {},
      mcp_servers: [],
      container: null,
      thread: { type: "create" },
      diagnostics: { previous_message_id: "m" },
      safeguards: {},
      cache_control: { type: "ephemeral" },
    };
    expect(read(members)).toEqual(plain);
  });
});

describe("an unreadable messages body", () => {
  const block = (each: unknown, role = "user") => ({ messages: [{ role, content: [each] }] });
  const call = { type: "tool_use", id: "t", name: "f", input: {} };
  const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`);

  test.each<[string, object]>([
    ["mcp_servers", { mcp_servers: [{ url: "https://example.com" }] }],
    ["thread", { thread: { id: "t" } }],
    ["container", { container: { skills: [] } }],
    ["compaction", { compaction: { type: "summarize" } }],
    ["max_tokens", { max_tokens: 0 }],
    ["messages[0].content[0].source", block({ type: "image", source: { type: "file", file_id: "f" } })],
    ["messages[0].content[0].source", block({ type: "document", source: { type: "file", file_id: "f" } })],
    ["messages[0].content[0]", block({ type: "hologram" })],
    ["messages[0].content[0]", block({ type: "container_upload", file_id: "f" })],
    ["messages[0].content[0]", block({ type: "image", source: {} }, "assistant")],
    ["tools[0].type", { tools: [{ type: "bash_20250124", name: "bash" }] }],
    ["output_config.format.type", { output_config: { format: { type: "grammar" } } }],
  ])("is untranslatable at %s for %j", (path, members) => {
    const error = errorOf(members);
    expect(error.kind).toBe("untranslatable");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test.each<[string, object]>([
    ["messages[0].role", { messages: [{ role: "developer", content: "x" }] }],
    ["system", { system: 5 }],
    ["messages[0].content[0]", block("text")],
    ["messages[0].content[0].type", block({ text: "x" })],
    ["messages[0].content[0].text", block({ type: "text", text: 5 })],
    ["messages[0].content[0].source", block({ type: "image", source: "x" })],
    [
      "messages[0].content[0].source.data",
      block({ type: "image", source: { type: "base64", media_type: "image/png" } }),
    ],
    ["messages[0].content[0].id", block({ ...call, id: undefined }, "assistant")],
    ["messages[0].content[0].name", block({ ...call, name: "" }, "assistant")],
    ["messages[0].content[0].name", block({ ...call, name: LONG_NAME }, "assistant")],
    ["messages[0].content[0].input", block({ ...call, input: "{}" }, "assistant")],
    ["messages[0].content[0].input", block({ ...call, input: [] }, "assistant")],
    ["messages[0].content[0].input", block({ ...call, input: deep }, "assistant")],
    ["messages[0].content[0].tool_use_id", block({ type: "tool_result", content: "x" })],
    ["messages[0].content[0].content", block({ type: "tool_result", tool_use_id: "t", content: 5 })],
    ["tools[0]", { tools: ["f"] }],
    ["tools[0].name", { tools: [{ input_schema: {} }] }],
    ["tools[0].name", { tools: [{ name: LONG_NAME }] }],
    ["tools[0].input_schema", { tools: [{ name: "f", input_schema: "x" }] }],
    ["tools[0].input_schema", { tools: [{ name: "f", input_schema: deep }] }],
    ["tool_choice", { tools: [{ name: "f" }], tool_choice: "auto" }],
    ["tool_choice.type", { tools: [{ name: "f" }], tool_choice: { type: "some" } }],
    ["tool_choice.name", { tools: [{ name: "f" }], tool_choice: { type: "tool" } }],
    ["tool_choice.name", { tools: [{ name: "f" }], tool_choice: { type: "tool", name: LONG_NAME } }],
    ["output_format.schema", { output_format: { type: "json_schema" } }],
    ["stop_sequences[1]", { stop_sequences: ["a", 5] }],
    ["temperature", { temperature: "hot" }],
  ])("has the wrong shape at %s", (path, members) => {
    const error = errorOf(members);
    expect(error.kind).toBe("wrong_shape");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("has the wrong shape above 100,000 values, wherever they are", () => {
    const many = Array(100_001).fill(0);
    expect(errorOf({ metadata: { many } })).toMatchObject({ kind: "wrong_shape" });
    expect(errorOf(block({ ...call, input: { many } }, "assistant")).kind).toBe("wrong_shape");
  });

  test("is untranslatable with a call of the user or a result of the assistant", () => {
    expect(errorOf(block(call)).kind).toBe("untranslatable");
    expect(errorOf(block({ type: "tool_result", tool_use_id: "t" }, "assistant")).kind).toBe(
      "untranslatable",
    );
  });
});
