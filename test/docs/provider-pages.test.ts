import { describe, expect, test } from "bun:test";
import { loadYaml } from "../config/temp-config.ts";
import { PROVIDER_BLOCKS } from "./provider-blocks.ts";

describe("a configuration on the page of a provider", () => {
  test.each(PROVIDER_BLOCKS)("loads without problems: $path", ({ text }) => {
    const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => [name, "a-key"]);
    expect(loadYaml(text, Object.fromEntries(variables)).upstreams).not.toEqual([]);
  });
});
