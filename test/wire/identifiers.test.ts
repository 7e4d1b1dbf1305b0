import { describe, expect, test } from "bun:test";
import type { ChatRequest, Part, ToolChoice } from "../../src/domain/chat-request.ts";
import { originalNames, shortenIdentifiers } from "../../src/wire/identifiers.ts";
import { callOf, chatOf, resultOf, turnOf } from "./chat-request.ts";

const LIMITS = { nameCharsMax: 64, idCharsMax: 40 };
const LONG = `mcp__${"server_".repeat(12)}read_file`;

function requestOf(
  names: readonly string[],
  parts: readonly Part[] = [],
  toolChoice?: ToolChoice,
): ChatRequest {
  return chatOf({
    turns: [turnOf("assistant", ...parts)],
    tools: names.map((name) => ({
      name,
      description: undefined,
      schema: {},
      strict: undefined,
      isFreeForm: false,
      cache: undefined,
    })),
    toolChoice,
  });
}

const call = (id: string, name: string) => callOf(id, name, "{}");

/** Shortens a request for a host. Returns it with the function that restores its names. */
function shorten(request: ChatRequest) {
  const originals = originalNames(request.tools, LIMITS);
  const restoreName = (name: string) => originals.get(name) ?? name;
  return { request: shortenIdentifiers(request, LIMITS), restoreName };
}

describe("shortenIdentifiers", () => {
  test("case 63: shortens a tool name of 80 characters for its host and restores it in the answer", () => {
    const { request, restoreName } = shorten(requestOf([LONG, "short"]));
    const [long = "", short = ""] = request.tools.map(({ name }) => name);
    expect(long).toMatch(/^[\w-]{64}$/);
    expect(long).toStartWith(LONG.slice(0, 55));
    expect([restoreName(long), restoreName(short)]).toEqual([LONG, "short"]);
  });

  test("keeps names distinct that differ only beyond the limit", () => {
    const { request, restoreName } = shorten(requestOf([`${LONG}1`, `${LONG}2`]));
    expect(request.tools.map(({ name }) => restoreName(name))).toEqual([`${LONG}1`, `${LONG}2`]);
    expect(new Set(request.tools.map(({ name }) => name)).size).toBe(2);
  });

  test.each(["files.read", "größe", "a b", ""])("replaces the characters of %p that hosts reject", (name) => {
    const { request, restoreName } = shorten(requestOf([name]));
    expect(request.tools[0]?.name).toMatch(/^[\w-]{1,64}$/);
    expect(restoreName(request.tools[0]?.name ?? "")).toBe(name);
  });

  test("shortens the tool choice and earlier calls like the tool", () => {
    const { request } = shorten(requestOf([LONG], [call("c", LONG)], { kind: "tool", name: LONG }));
    const name = request.tools[0]?.name;
    expect(request.toolChoice).toEqual({ kind: "tool", name: name ?? "" });
    expect(request.turns[0]?.parts[0]).toMatchObject({ name });
  });

  test("gives a call and its result one id if the id is too long or has other characters", () => {
    for (const id of [`toolu_${"x".repeat(60)}`, "call:1/2"]) {
      const { request } = shorten(requestOf([], [call(id, "f"), resultOf(id)]));
      const [made, given] = request.turns[0]?.parts ?? [];
      expect(made).toMatchObject({ id: expect.stringMatching(/^[\w-]{1,40}$/) });
      expect(given).toMatchObject({ callId: made?.kind === "tool_call" ? made.id : "" });
    }
  });

  test("keeps names and ids that hosts accept", () => {
    const request = requestOf(["f"], [call("call_1", "f"), resultOf("call_1")], { kind: "required" });
    expect(shorten(request).request).toEqual(request);
  });

  test("does not change an undeclared name when it restores names", () =>
    expect(shorten(requestOf(["f"])).restoreName("constructor")).toBe("constructor"));
});
