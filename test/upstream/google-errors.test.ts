import { describe, expect, test } from "bun:test";
import { readGoogleAnswer } from "../../src/upstream/google-errors.ts";
import { googleError } from "../support/scripted-google.ts";

const RETRY_INFO = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.5s" };

describe("an error of Google", () => {
  test("gets the retry time of its body as a header, rounded up", async () => {
    const answer = await readGoogleAnswer(googleError(429, "RESOURCE_EXHAUSTED", "Quota.", [RETRY_INFO]));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
  });

  test("keeps the retry time of its header", async () => {
    const error = googleError(503, "UNAVAILABLE", "Later.", [RETRY_INFO]);
    error.headers.set("retry-after", "9");
    expect((await readGoogleAnswer(error)).headers.get("retry-after")).toBe("9");
  });

  test.each([
    ["an invalid key", { reason: "API_KEY_INVALID" }, "INVALID_ARGUMENT", 401],
    ["a location or an account without access", {}, "FAILED_PRECONDITION", 403],
    ["the request", {}, "INVALID_ARGUMENT", 400],
  ])("of 400 about %s has its true status", async (_about, detail, status, expected) => {
    const answer = await readGoogleAnswer(googleError(400, status, "No.", [detail]));
    expect(answer.status).toBe(expected);
    expect(await answer.text()).toContain('"message":"No."');
  });

  test("in an array is read, and anything else is kept as it is", async () => {
    const listed = Response.json([{ error: { details: [RETRY_INFO] } }], { status: 429 });
    expect((await readGoogleAnswer(listed)).headers.get("retry-after")).toBe("1");
    const odd = await readGoogleAnswer(new Response("<html>", { status: 429 }));
    expect([odd.status, odd.headers.get("retry-after"), await odd.text()]).toEqual([429, null, "<html>"]);
    const hostile = {
      error: { details: [{ retryDelay: "1e9s" }, null, { retryDelay: `${"9".repeat(40)}s` }] },
    };
    const answer = await readGoogleAnswer(Response.json(hostile, { status: 429 }));
    expect(answer.headers.has("retry-after")).toBe(false);
  });

  test("is read up to 64 KiB, and answers without an error are not read", async () => {
    const long = await readGoogleAnswer(new Response("x".repeat(1_000_000), { status: 400 }));
    expect((await long.text()).length).toBeLessThanOrEqual(1_000_000);
    const fine = new Response("a");
    expect(readGoogleAnswer(fine)).toBe(fine);
  });
});
