import { describe, expect, test } from "bun:test";
import { claude, claudeEvents, converse, converseEvents, converseText } from "../support/bedrock/answers.ts";
import { encodeEvent, encodeException } from "../support/bedrock/event-stream.ts";
import { ACCESS_KEY_ID, type BedrockScript, SECRET_ACCESS_KEY } from "../support/bedrock/scripted-bedrock.ts";
import { CHAT, MESSAGES, objectOf, post } from "../support/client.ts";
import { framesOf } from "../support/strict-json.ts";
import { CLAUDE, expectOwnError, NOVA, startBedrockFixture } from "./conformance/bedrock-fixture.ts";

const fixture = startBedrockFixture();
const TEXT = [{ type: "text", text: "Hello, world." }];

/** Returns a script that refuses a call as Bedrock does. */
function refuse(status: number, type: string, message: string, headers = {}): BedrockScript {
  return () => ({
    status,
    headers: { "x-amzn-errortype": `${type}:http://internal.amazon.com/`, ...headers },
    body: { message },
  });
}

function script(...scripts: readonly BedrockScript[]): void {
  for (const model of [CLAUDE, NOVA]) fixture.bedrock().on(model, ...scripts);
}

const ask = (model: string, stream = false) =>
  post(fixture.gateway(), MESSAGES, { model, stream, max_tokens: 99 });

/** Cuts a stream behind its first output, and appends something. */
function brokenStream(...end: readonly Uint8Array[]): BedrockScript {
  return ({ api }) => {
    const whole = api.startsWith("invoke")
      ? claudeEvents(TEXT)
      : converseEvents([{ text: "Hello, world." }], "end_turn");
    return { body: [...whole.slice(0, 3), ...end], isReset: false };
  };
}

function damaged(offset: number): Uint8Array {
  const event = encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "more" } });
  event.writeUInt8(event.readUInt8(offset) ^ 1, offset);
  return event;
}

function huge(): Uint8Array {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(0x7fffffff, 0);
  prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8);
  return prelude;
}

describe("a fault of Bedrock", () => {
  test.each([
    ["prompt is too long: 208310 tokens > 200000 maximum", "208310 tokens > 200000 maximum"],
    [
      "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum",
      "200049 tokens",
    ],
    ["input length and `max_tokens` exceed context limit: 199211 + 8192 > 200000", "199211 tokens"],
    ["Input is too long for requested model.", "too long"],
  ])("case 155: that rejects the prompt with '%s' says so with its digits", async (message, said) => {
    script(refuse(400, "ValidationException", message));
    for (const model of ["claude", "nova"]) {
      const error = await expectOwnError(await ask(model), 400);
      expect(error.message).toContain("too long");
      expect(error.message).toContain(said);
    }
  });

  test.each([
    [429, "ThrottlingException"],
    [400, "ThrottlingException"],
    [400, "ServiceQuotaExceededException"],
    [403, "AccessDeniedException"],
    [400, "ExpiredTokenException"],
    [404, "ResourceNotFoundException"],
    [408, "ModelTimeoutException"],
    [424, "ModelErrorException"],
    [429, "ModelNotReadyException"],
    [500, "InternalServerException"],
    [503, "ServiceUnavailableException"],
  ])("case 156: with status %i %s takes the next route, or is the operator's", async (status, type) => {
    script(refuse(status, type, "Account 123456789012 is not authorized"));
    for (const model of ["spare", "nova-spare"]) {
      const response = await ask(model);
      expect(response.status).toBe(200);
      expect((await fixture.gateway().receiptOf(response)).outcome?.upstream).toBe("scripted-anthropic");
    }
    await expectOwnError(await ask("claude"), 502);
  });

  test("case 157: of the request is the client's, and is not repeated", async () => {
    script(refuse(400, "ValidationException", "messages: roles must alternate"));
    await expectOwnError(await ask("spare"), 400);
    expect(fixture.gateway().upstream.seen).toHaveLength(0);
  });

  test.each([
    "throttlingException",
    "modelStreamErrorException",
    "internalServerException",
    "serviceUnavailableException",
    "modelTimeoutException",
    "validationException",
  ])(
    "case 158: %s inside of a stream takes the next route before output, and ends the stream behind it",
    async (type) => {
      const exception = encodeException(type, "Account 123456789012: too many requests");
      script(() => ({ body: [exception] }));
      for (const model of ["spare", "nova-spare"]) expect((await ask(model, true)).status).toBe(200);
      expect(fixture.gateway().upstream.seen).toHaveLength(2);
      script(brokenStream(exception));
      for (const model of ["claude", "nova"]) await expectBrokenStream(model);
    },
  );

  test.each([
    ["a wrong checksum of a message", [damaged(60)]],
    ["a wrong checksum of a prelude", [damaged(2)]],
    ["a message of 2 GB", [huge()]],
    ["a cut message", [damaged(60).subarray(0, 40)]],
    ["no end", []],
    ["text in place of messages", [Buffer.from("<html>Bad gateway</html>")]],
  ])("case 159: %s ends the stream with an error and no finish", async (_, end) => {
    script(brokenStream(...end));
    for (const model of ["claude", "nova"]) await expectBrokenStream(model);
  });

  test("case 159: a stream that is cut behind its stop reason is complete", async () => {
    fixture.bedrock().on(CLAUDE, () => ({ body: claudeEvents(TEXT).slice(0, -1) }));
    fixture
      .bedrock()
      .on(NOVA, () => ({ body: converseEvents([{ text: "Hello." }], "end_turn").slice(0, -1) }));
    for (const model of ["claude", "nova"])
      expect(await (await ask(model, true)).text()).toContain("message_stop");
  });

  test("case 159: an answer that the model garbled is none", async () => {
    for (const reason of ["malformed_model_output", "malformed_tool_use"]) {
      fixture.bedrock().on(NOVA, converse([], reason));
      await expectOwnError(await ask("nova"), 502);
    }
  });

  test("case 160: a clock that is off is corrected by the answer, and the call is sent again", async () => {
    script(claude(TEXT));
    fixture.bedrock().shiftClock(3_600_000);
    expect((await ask("claude")).status).toBe(200);
    expect(fixture.bedrock().complaints).toEqual(["refused: InvalidSignatureException"]);
    expect((await ask("claude")).status).toBe(200);
    expect(fixture.bedrock().complaints).toHaveLength(1);
    fixture.bedrock().shiftClock(0);
    expect((await ask("claude")).status).toBe(200);
  });

  test("case 160: a wrong secret is the operator's, and is tried once", async () => {
    fixture.bedrock().on(NOVA, converseText("Hi."));
    fixture.bedrock().accept(ACCESS_KEY_ID, `${SECRET_ACCESS_KEY}?`);
    const error = await objectOf(await post(fixture.gateway(), CHAT, { model: "nova" }));
    expect(error).toMatchObject({ error: { code: "upstream_unavailable" } });
    expect(fixture.bedrock().complaints).toHaveLength(1);
  });

  async function expectBrokenStream(model: string): Promise<void> {
    const response = await ask(model, true);
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(framesOf(body).at(-1)).toMatchObject({ event: "error", json: { type: "error" } });
    expect(body).not.toMatch(/message_stop|"stop_reason":"|123456789012|exception/i);
    const { outcome } = await fixture.gateway().receiptOf(response);
    expect([outcome?.outcome, outcome?.source]).toEqual(["upstream_unavailable", "estimated"]);
  }
});
