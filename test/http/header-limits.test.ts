import { expect, test } from "bun:test";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { sendRaw } from "../support/raw-client.ts";

const gateway = gatewayForTests();

function head(target: string, headers: readonly string[]): string {
  return `GET ${target} HTTP/1.1\r\nhost: gateway.example\r\nconnection: close\r\n${headers.join("\r\n")}\r\n\r\n`;
}

test.each([
  ["a target of 20,000 bytes", `/v1/models/${"a".repeat(20_000)}`, ["a: b"]],
  ["a query of 20,000 bytes", `/v1/models?${"a".repeat(20_000)}`, ["a: b"]],
  ["a header of 20,000 bytes", "/v1/models", [`x-long: ${"a".repeat(20_000)}`]],
  ["1,000 headers", "/v1/models", Array.from({ length: 1_000 }, (_, index) => `x-${index}: a`)],
] as const)("%s is refused with 431, and the next request is answered", async (_, target, headers) => {
  expect((await sendRaw(gateway.url, [head(target, headers)])).status).toBe(431);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
});
