import { describe, expect, test } from "bun:test";
import { loadYaml, problemsOf } from "./temp-config.ts";

describe("an upstream without base_url", () => {
  test("has the public address of its protocol", () => {
    const { upstreams } = loadYaml(`
upstreams:
  o: { protocol: openai, api_key: k }
  a: { protocol: anthropic, api_key: k }
`);
    expect(upstreams.map(({ baseUrl }) => baseUrl)).toEqual([
      "https://api.openai.com/v1",
      "https://api.anthropic.com",
    ]);
  });
});

describe("an upstream without api_key", () => {
  test("is a problem of a protocol that needs one", () => {
    expect(problemsOf("upstreams: { o: { protocol: openai } }")).toEqual([
      "upstreams.o.api_key: is missing, expected a key without spaces or line breaks",
    ]);
  });

  test("is one problem when the key has a wrong form", () => {
    expect(problemsOf('upstreams: { o: { protocol: openai, api_key: "a b" } }')).toHaveLength(1);
  });
});
