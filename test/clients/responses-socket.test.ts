import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { ResponsesClientEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";

const native = scriptedModel("native", "openai", { routes: [scriptedRoute("native", "native")] });
const gateway = gatewayForTests({
  models: [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), native],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("native", "openai", { baseUrl: scripted.openaiUrl, hasResponses: true }),
  ],
});
const USAGE = { input: 11, output: 7 };

/** Creates one response and returns it at its end. Throws the error of an `error` event. */
async function create(socket: ResponsesWS, event: Omit<ResponsesClientEvent.ResponseCreate, "type">) {
  const events = socket.stream();
  socket.send({ type: "response.create", ...event });
  for await (const each of events) {
    if (each.type === "error") throw each.error;
    if (each.type !== "message") continue;
    const { message } = each;
    if (message.type === "response.completed") return message.response;
    if (message.type === "response.failed") throw new Error(message.response.error?.code);
  }
  throw new Error("The connection was closed");
}

const connect = () => new ResponsesWS(new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret }));

describe.each(["chat", "claude", "native"])(
  "the OpenAI SDK's WebSocket of responses of model %s",
  (model) => {
    test("runs a loop of tool calls from the memory of the connection", async () => {
      const tool = { name: "look_up", arguments: '{"city":"Oslo"}' };
      const tools = [
        {
          type: "function" as const,
          name: "look_up",
          strict: false,
          parameters: { type: "object", properties: {} },
        },
      ];
      gateway.upstream.on(
        model,
        answerWith({ tool, usage: USAGE }),
        answerWith({ text: "Rain.", usage: USAGE }),
      );
      const socket = connect();
      const first = await create(socket, { model, input: "Weather?", tools, store: false });
      const call = first.output.find((item) => item.type === "function_call");
      if (call?.type !== "function_call") throw new Error("There is no call");
      const output = { type: "function_call_output" as const, call_id: call.call_id, output: "rain" };
      const second = await create(socket, { model, input: [output], tools, previous_response_id: first.id });
      expect(second.output.at(-1)).toMatchObject({ content: [{ text: "Rain." }] });
      const sent = gateway.upstream.seen.at(-1)?.bodyText ?? "";
      for (const text of ["Weather?", "Oslo", "rain"]) expect(sent).toContain(text);
      socket.close();
      await gateway.nothingIsHeld();
    });
  },
);

test("the OpenAI SDK reads an error with its code and status", async () => {
  const socket = connect();
  const failure = create(socket, { model: "none", input: "Hi." });
  await expect(failure).rejects.toMatchObject({
    error: { status: 404, error: { code: "model_not_found", type: "invalid_request_error" } },
  });
  socket.close();
});
