import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { post, SURFACES } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const DAY_MS = 86_400_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterEach(() => void setSystemTime());
afterAll(() => gateway.stop());

describe.each(SURFACES)("on $path", (surface) => {
  test.each([
    ["three days ahead", 3 * DAY_MS],
    ["ten years ahead", 3653 * DAY_MS],
    ["three days behind", -3 * DAY_MS],
  ])("a clock that was %s and is corrected causes no declined request", async (_name, shiftMs) => {
    setSystemTime(Date.now() + shiftMs);
    const during = await post(gateway, surface);
    expect([during.status, await during.text()]).toMatchObject([200, expect.any(String)]);
    const madeAtMs = Number.parseInt(
      (during.headers.get("x-request-id") ?? "").replaceAll("-", "").slice(0, 12),
      16,
    );
    expect(Math.abs(madeAtMs - Date.now())).toBeLessThan(60_000);
    setSystemTime();
    expect((await post(gateway, surface)).status).toBe(200);
  });
});
