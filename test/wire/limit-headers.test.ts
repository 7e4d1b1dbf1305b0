import { describe, expect, test } from "bun:test";
import type { ClientSurface } from "../../src/domain/model.ts";
import { WIRES } from "../../src/wire/registry.ts";

const REQUESTS = { limit: 60, remaining: 59, resetMs: 1_001 };
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const TOKENS = { limit: 9_000, remaining: 0, resetMs: 60_000 };

describe("the limit headers of a format", () => {
  test.each<ClientSurface>(["chat", "responses", "embeddings"])("are those of OpenAI on %s", (surface) => {
    expect(WIRES[surface].limitHeaders({ requests: REQUESTS, tokens: TOKENS }, NOW_MS)).toEqual({
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "2s",
      "x-ratelimit-limit-tokens": "9000",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "60s",
    });
  });

  test("are those of Anthropic on messages, with a date as the reset time", () => {
    const headers = WIRES.messages.limitHeaders({ requests: REQUESTS, tokens: undefined }, NOW_MS);
    expect(headers).toEqual({
      "anthropic-ratelimit-requests-limit": "60",
      "anthropic-ratelimit-requests-remaining": "59",
      "anthropic-ratelimit-requests-reset": "2026-01-02T03:04:06.001Z",
    });
  });

  test.each<ClientSurface>(["chat", "messages"])("are absent on %s without limits", (surface) => {
    expect(WIRES[surface].limitHeaders({ requests: undefined, tokens: undefined }, NOW_MS)).toEqual({});
  });
});
