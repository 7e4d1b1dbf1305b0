import { expect, test } from "bun:test";
import { SURFACES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";

const gateway = gatewayForTests();

const POISON = '{"polluted":"yes"}';

test.each(SURFACES)("members named like a prototype change no other object, on $path", async ({ path }) => {
  const { secret } = await gateway.newKey({});
  for (const model of ["chat", "claude"]) {
    for (const place of ["__proto__", "constructor", "prototype"]) {
      const member = `"${place}":${place === "constructor" ? `{"prototype":${POISON}}` : POISON}`;
      const message = `{"role":"user","content":"Hello",${member}}`;
      const body = `{"model":"${model}",${member},"max_tokens":100,"metadata":{${member}},"input":"Hello","messages":[${message}]}`;
      const response = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { "x-api-key": secret },
        body,
      });
      await response.text();
      expect(response.status).not.toBe(500);
    }
  }
  expect("polluted" in {}).toBe(false);
  expect("polluted" in Object.create(null)).toBe(false);
  expect("polluted" in []).toBe(false);
});
