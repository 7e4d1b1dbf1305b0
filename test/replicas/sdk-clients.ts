import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { ClientGroup, Clients, Sent } from "./clients.ts";

type Ask = (stream: boolean) => Promise<Pick<Sent, "requestId">>;

/** Starts clients that use the official SDKs with their own retries, one request at a time each. */
export function startSdkClients(
  url: string,
  { name, secret, pauseMs }: Omit<ClientGroup, "clients">,
): Clients {
  const sent: Sent[] = [];
  let isStopped = false;
  const work = async (ask: Ask) => {
    for (let round = 0; !isStopped; round += 1) {
      const startedMs = Date.now();
      const seen = await ask(round % 2 === 0).then(
        ({ requestId }) => ({ result: "answered", requestId }),
        (error: unknown) => ({ result: nameError(error), requestId: "" }),
      );
      sent.push({ group: name, startedMs, endedMs: Date.now(), costUsd: undefined, ...seen });
      await Bun.sleep(pauseMs);
    }
  };
  const all = [askOpenAi(url, secret, name), askAnthropic(url, secret, name)].map(work);
  return {
    sent,
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}

function askOpenAi(url: string, secret: string, text: string): Ask {
  const client = new OpenAI({ apiKey: secret, baseURL: `${url}/v1` });
  const request = { model: "chat", max_tokens: 50, messages: [{ role: "user" as const, content: text }] };
  return async (stream) => {
    const { data, response } = await client.chat.completions.create({ ...request, stream }).withResponse();
    let isFinished = !(Symbol.asyncIterator in data);
    if (Symbol.asyncIterator in data) {
      for await (const { choices } of data) isFinished ||= Boolean(choices[0]?.finish_reason);
    }
    return finish(isFinished, response);
  };
}

function askAnthropic(url: string, secret: string, text: string): Ask {
  const client = new Anthropic({ apiKey: secret, baseURL: url });
  const request = { model: "chat", max_tokens: 50, messages: [{ role: "user" as const, content: text }] };
  return async (stream) => {
    const { data, response } = await client.messages.create({ ...request, stream }).withResponse();
    let isFinished = !(Symbol.asyncIterator in data);
    if (Symbol.asyncIterator in data) {
      for await (const { type } of data) isFinished ||= type === "message_stop";
    }
    return finish(isFinished, response);
  };
}

function finish(isFinished: boolean, { headers }: Response): Pick<Sent, "requestId"> {
  if (!isFinished) throw new Error("cut");
  return { requestId: headers.get("x-request-id") ?? "" };
}

/** Returns the result in the words of {@link Sent}. */
function nameError(error: unknown): string {
  if (!(error instanceof OpenAI.APIError || error instanceof Anthropic.APIError)) return "cut";
  const { status, error: body } = error;
  if (status === undefined) return "no answer";
  return `${status} ${/"(?:code|error_code)":"(\w+)"/.exec(JSON.stringify(body ?? {}))?.[1] ?? "without a code"}`;
}
