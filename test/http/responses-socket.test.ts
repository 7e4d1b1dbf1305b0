import { beforeEach, describe, expect, test } from "bun:test";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { connectSocket, type Frame, requestIdOf, responseIdOf } from "../support/socket-client.ts";

const gateway = gatewayForTests();
const USAGE = { input: 11, output: 7 };

beforeEach(() => {
  gateway.upstream.on("chat", answerWith({ text: "Hello there.", usage: USAGE }));
  gateway.upstream.on("claude", answerWith({ text: "Hello there.", usage: USAGE }));
});

const seen = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");
const typesOf = (frames: readonly Frame[]) => frames.map(({ type }) => type);

describe("a response over a WebSocket", () => {
  test("has the events of a stream over HTTP, one a frame, and one receipt of its own", async () => {
    const client = await connectSocket(gateway);
    const frames = await client.create();
    expect(typesOf(frames).slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(frames.at(-1)).toMatchObject({
      type: "response.completed",
      response: { status: "completed", usage: { input_tokens: 11, output_tokens: 7 } },
    });
    expect(frames.map((frame) => frame.sequence_number)).toEqual(frames.map((_, index) => index));
    const receipt = await gateway.receiptOf(requestIdOf(frames));
    expect(receipt).toMatchObject({ outcome: { outcome: "ok" } });
    const [first] = frames;
    expect(first?.headers).toMatchObject({ "x-request-id": requestIdOf(frames) });
    expect(frames.at(-1)?.headers).toMatchObject({ "x-tollgate-cost-usd": expect.any(String) });
    await gateway.nothingIsHeld();
    client.socket.close();
  });

  test("is translated for an upstream of another format", async () => {
    const client = await connectSocket(gateway);
    const frames = await client.create({ model: "claude", stream_id: "one" });
    expect(frames.at(-1)).toMatchObject({ type: "response.completed", stream_id: "one" });
    expect(frames.every((frame) => frame.stream_id === "one")).toBe(true);
    client.socket.close();
  });

  test("continues the response before it, from the memory of the connection", async () => {
    const client = await connectSocket(gateway);
    const first = await client.create({ input: "My name is Ada." });
    const second = await client.create({
      input: [{ role: "user", content: "What is my name?" }],
      previous_response_id: responseIdOf(first),
    });
    expect(seen().messages).toEqual([
      { role: "user", content: "My name is Ada." },
      { role: "assistant", content: "Hello there." },
      { role: "user", content: "What is my name?" },
    ]);
    await client.create({ input: "Again.", previous_response_id: responseIdOf(second) });
    expect(seen().messages).toHaveLength(5);
    const late = await client.create({ previous_response_id: responseIdOf(first) });
    expect(late).toMatchObject([
      {
        type: "error",
        status: 400,
        error: { code: "previous_response_not_found", param: "previous_response_id" },
      },
    ]);
    client.socket.close();
  });

  test("of another connection of the same key cannot be continued", async () => {
    const one = await connectSocket(gateway);
    const other = await connectSocket(gateway);
    const id = responseIdOf(await one.create());
    const frames = await other.create({ previous_response_id: id });
    expect(frames).toMatchObject([{ type: "error", error: { code: "previous_response_not_found" } }]);
    for (const { socket } of [one, other]) socket.close();
  });

  test("may be forked to another queue", async () => {
    const client = await connectSocket(gateway);
    const id = responseIdOf(await client.create({ stream_id: "main", input: "One." }));
    await client.create({ stream_id: "fork", input: "Two.", previous_response_id: id });
    const third = await client.create({ stream_id: "main", input: "Three.", previous_response_id: id });
    expect(third.at(-1)).toMatchObject({ type: "response.completed", stream_id: "main" });
    expect(seen().messages).toHaveLength(3);
    client.socket.close();
  });

  test("of a warm-up calls no model, is free, and can be continued", async () => {
    const client = await connectSocket(gateway);
    const before = gateway.upstream.seen.length;
    const warm = await client.create({ generate: false, input: [] });
    expect(warm.at(-1)).toMatchObject({ type: "response.completed", response: { output: [] } });
    expect(gateway.upstream.seen).toHaveLength(before);
    const input = [{ role: "user", content: "Go on." }];
    const next = await client.create({ input, previous_response_id: responseIdOf(warm) });
    expect(next.at(-1)?.type).toBe("response.completed");
    expect(seen().messages).toEqual([{ role: "user", content: "Go on." }]);
    client.socket.close();
  });

  test("waits for the one before it in its queue, and runs beside those of other queues", async () => {
    const opened = gate();
    const slow = answerWith({ text: "Slow.", usage: USAGE }, { gate: opened.opened });
    const client = await connectSocket(gateway);
    gateway.upstream.on("chat", slow, answerWith({ text: "Fast.", usage: USAGE }));
    const create = { type: "response.create", model: "chat", input: "Hi." };
    client.send({ ...create, stream_id: "a" });
    client.send({ ...create, stream_id: "a" });
    await gateway.upstream.waitForSeen(1);
    const fast = await client.create({ stream_id: "b" });
    expect(fast.every((frame) => frame.stream_id === "b")).toBe(true);
    opened.open();
    const rest: Frame[] = [];
    while (rest.filter(({ type }) => type === "response.completed").length < 2)
      rest.push(await client.next());
    expect(rest.every((frame) => frame.stream_id === "a")).toBe(true);
    client.socket.close();
  });

  test("ends when its client cancels it, and is charged for what came", async () => {
    const never = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
    const client = await connectSocket(gateway);
    client.send({ type: "response.create", model: "chat", input: "Hi." });
    while ((await client.next()).type !== "response.output_text.delta");
    client.send({ type: "response.cancel" });
    let last = await client.next();
    while (last.type !== "response.incomplete") last = await client.next();
    expect(last).toMatchObject({ response: { incomplete_details: { reason: "cancelled" } } });
    expect(await gateway.receiptOf(requestIdOf([last]))).toMatchObject({
      outcome: { outcome: "client_closed" },
    });
    await gateway.nothingIsHeld();
    never.open();
    gateway.upstream.on("chat", answerWith({ text: "More.", usage: USAGE }));
    expect((await client.create()).at(-1)?.type).toBe("response.completed");
    client.socket.close();
  });

  test("is settled once when its client is gone", async () => {
    const never = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
    const client = await connectSocket(gateway);
    client.send({ type: "response.create", model: "chat", input: "Hi." });
    const first = await client.next();
    client.drop();
    await gateway.nothingIsHeld();
    expect(await gateway.receiptOf(requestIdOf([first]))).toMatchObject({
      outcome: { outcome: "client_closed" },
    });
    never.open();
  });
});

describe("an error on a WebSocket", () => {
  test.each([
    ["no JSON", "{", "invalid_request"],
    ["a list", "[]", "invalid_request"],
    ["another type", { type: "session.update" }, "invalid_request"],
    ["a wrong stream_id", { type: "response.create", stream_id: "a b" }, "invalid_stream_id"],
    ["an empty stream_id", { type: "response.create", stream_id: "" }, "invalid_stream_id"],
    ["no model", { type: "response.create", input: "Hi." }, "invalid_request"],
    ["an unknown model", { type: "response.create", input: "Hi.", model: "none" }, "model_not_found"],
    ["garbage behind", '{"type":"response.create","model":"chat","input":"Hi."} x', "invalid_request"],
    [
      "a repeated member",
      '{"type":"response.create","model":"a","model":"chat","input":"Hi."}',
      "invalid_request",
    ],
    ["a cancel without a response", { type: "response.cancel" }, "invalid_request"],
    ["steering", { type: "response.steer", input: "Hi." }, "not_implemented"],
  ])("for %s is an event with status and code, and the connection goes on", async (_, event, code) => {
    const client = await connectSocket(gateway);
    client.send(event);
    const frame = await client.next();
    expect(frame).toMatchObject({ type: "error", status: expect.any(Number), error: { code } });
    expect((await client.create()).at(-1)?.type).toBe("response.completed");
    client.socket.close();
  });

  test("that Codex reads as a failed response is one, with status and code beside it", async () => {
    const poor = await gateway.newPayer("0");
    const client = await connectSocket(gateway, { secret: poor.secret });
    const frames = await client.create();
    expect(frames.at(-1)).toMatchObject({
      type: "response.failed",
      status: 402,
      error: { code: "insufficient_balance" },
      response: { error: { code: "insufficient_quota" } },
    });
    client.socket.close();
  });

  test("for a binary message keeps the connection, and many wrong messages close it", async () => {
    const client = await connectSocket(gateway);
    for (let sent = 0; sent < 16; sent += 1) client.socket.send(new Uint8Array(8));
    expect(await client.closed).toBe(1008);
    expect(client.frames.every(({ type }) => type === "error")).toBe(true);
  });
});
