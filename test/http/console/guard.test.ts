import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

let console: TestConsole;
beforeAll(async () => {
  console = await openTestConsole();
});
afterAll(() => console.stop());

test("an unknown path of the API is answered model_not_found", async () => {
  const answer = await console.call(undefined, "GET", "/nothing");
  expect(answer.status).toBe(404);
  expect(answer.json.error.code).toBe("model_not_found");
  expect(answer.headers.get("x-request-id")).toBe(answer.headers.get("request-id"));
});
