import { describe, expect, test } from "bun:test";
import { type BodyBounds, readRequestBody } from "../../../src/http/console/request-body.ts";

describe("the body of a request to the console", () => {
  const read = (body: BodyInit, bounds: Partial<BodyBounds> = {}) =>
    readRequestBody(new Request("http://console.test/", { method: "POST", body }), {
      bytesMax: 10,
      ...bounds,
    });

  test("is read as it was sent, up to its bound", async () => {
    expect([...(await read(new Uint8Array([0, 255, 10])))]).toEqual([0, 255, 10]);
    expect(await read("0123456789")).toHaveLength(10);
    await expect(read("0123456789a")).rejects.toMatchObject({ kind: "body_too_large" });
    const message = "too much";
    await expect(read("0123456789a", { message })).rejects.toMatchObject({ publicMessage: message });
  });

  test("that never ends is refused after its time, and not read any further", async () => {
    let isCancelled = false;
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel() {
        isCancelled = true;
      },
    });
    await expect(read(endless, { msMax: 20 })).rejects.toMatchObject({ kind: "body_too_slow" });
    expect(isCancelled).toBe(true);
  });

  test("without an announced length is refused as soon as it exceeds its bound", async () => {
    const chunks = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(8)) });
    await expect(read(chunks)).rejects.toMatchObject({ kind: "body_too_large" });
  });
});
