import { describe, expect, test } from "bun:test";
import { readRefusal } from "../../src/upstream/refused-call.ts";

function refusedFor(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readRefusal({
    status,
    headers: new Headers(headers),
    text,
    inputTokens: 5_000,
    outputTokens: 1_000,
  });
}

const openai = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe("a refused call", () => {
  test.each([
    [
      "xAI",
      {
        code: "The caller does not have permission to execute the specified operation",
        error:
          "Content violates usage guidelines. Team: t, API key ID: k, Failed check: SAFETY_CHECK_TYPE_BIO",
      },
    ],
    ["xAI in short", { code: "permission-denied", error: "Content violates usage guidelines. " }],
    [
      "OpenRouter",
      openai(
        'm requires moderation on OpenAI. Your input was flagged for "violence". No credits were charged.',
      ),
    ],
    [
      "OpenRouter by its metadata",
      openai("Refused", { metadata: { reasons: ["hate"], flagged_input: "my account" } }),
    ],
    [
      "Azure",
      openai(
        "The response was filtered by the prompt triggering Azure OpenAI's content management policy: content_filter",
      ),
    ],
  ])("of status 403 is refused for its content by %s", (_, body) => {
    expect(refusedFor(403, body)).toBe("content");
  });

  test.each([
    [
      402,
      openai(
        "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 4711.",
      ),
    ],
    [402, openai("Prompt tokens limit exceeded: 230799 > 91442. To increase, visit your key's settings")],
    [
      429,
      openai(
        "Request too large for m in organization o on tokens per min (TPM): Limit 30000, Requested 45000.",
      ),
    ],
    [429, openai("Rate limit reached on tokens per min. Limit: 5000, Requested: 6000")],
  ])("of status %d is refused for its size where its text says so", (status, body) => {
    expect(refusedFor(status, body)).toBe("size");
  });

  test("of status 429 is refused for its size where it is above the whole limit of a minute", () => {
    expect(refusedFor(429, "{}", { "x-ratelimit-limit-tokens": "5500" })).toBe("size");
    expect(refusedFor(429, "{}", { "anthropic-ratelimit-input-tokens-limit": "4000" })).toBe("size");
    expect(refusedFor(429, "{}", { "x-ratelimit-limit-tokens": "6000" })).toBeUndefined();
    expect(refusedFor(429, openai("Limit 30000, Used 28000, Requested 6000"))).toBeUndefined();
  });

  test.each([
    [402, openai("Insufficient Balance")],
    [402, openai("Insufficient credits. Add more in your settings")],
    [
      402,
      openai(
        "This request requires more credits, or fewer max_tokens. You requested up to 100 tokens, but can only afford 0.",
      ),
    ],
    [403, openai("Your API key does not have permission to use the specified resource")],
    [403, openai("Key limit exceeded (total limit).")],
    [403, openai("Project p does not have access to model m", { code: "model_not_found" })],
    [403, [openai("Permission denied: Consumer has been suspended", { status: "PERMISSION_DENIED" })]],
    [403, { Message: "User: arn is not authorized to perform: bedrock:InvokeModel" }],
    [403, { message: "You don't have access to the model with the specified model ID." }],
    [403, openai("Your account was flagged for violating our policies", { code: "account_flagged" })],
  ])("of status %d concerns the key where its text names key or account", (status, body) => {
    expect(refusedFor(status, body)).toBe("key");
  });

  test.each([402, 403])("of status %d without words has no known cause", (status) => {
    expect(refusedFor(status, "{}")).toBeUndefined();
    expect(refusedFor(status, "Forbidden")).toBeUndefined();
    expect(refusedFor(status, "<html>Access denied. You do not have permission.</html>")).toBeUndefined();
  });

  test("that quotes the request in its details does not concern the key", () => {
    const quoted = { metadata: { raw: "my account, my API key, my balance" } };
    expect(refusedFor(403, openai("Forbidden", quoted))).toBeUndefined();
  });
});
