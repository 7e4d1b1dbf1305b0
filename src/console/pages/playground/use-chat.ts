import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api.ts";
import { receiptQuery } from "../../queries/requests.ts";
import { type Answer, addEvent, createEventReader, NEW_ANSWER, type ServerEvent, settle } from "./answer.ts";
import { type Asked, type Message, messageOf, questionOf, resultsOf, type Tool } from "./messages.ts";

/** What the route takes. */
export interface ChatRequest {
  readonly key: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly max_tokens?: number;
  readonly temperature?: number;
}

/** One question with its answer. */
export interface ChatStep {
  readonly request: ChatRequest;
  /** The messages that the step added: a question, or results of tools. */
  readonly added: readonly Message[];
  readonly answer: Answer;
}

/** Tries to read the charge of a stopped request, and the time between them. */
const READS_MAX = 60;
const READ_EVERY_MS = 700;

/** The conversation with one model. A new question continues it; leaving the page stops it. */
export function useChat(account: string, given: readonly Message[]) {
  const [steps, setChatSteps] = useState<readonly ChatStep[]>([]);
  const running = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => running.current?.abort(), []);

  const change = (edit: (answer: Answer) => Answer) =>
    setChatSteps((all) =>
      all.map((each, index) => (index === all.length - 1 ? { ...each, answer: edit(each.answer) } : each)),
    );

  /** Resolves with whether the request was admitted, once its answer has ended. */
  const run = async (request: ChatRequest, added: readonly Message[]): Promise<boolean> => {
    const controller = new AbortController();
    running.current = controller;
    setChatSteps((all) => [...all, { request, added, answer: NEW_ANSWER }]);
    const seen: { requestId?: string | undefined } = {};
    try {
      await stream(account, request, controller.signal, (event) => {
        change((answer) => addEvent(answer, event));
        if (event.event === "start") seen.requestId = JSON.parse(event.data).request_id;
      });
    } catch (error) {
      if (!controller.signal.aborted) change((answer) => fail(answer, error));
    }
    if (controller.signal.aborted) {
      change((answer) => ({ ...answer, state: "stopped" }));
      if (seen.requestId) await readCharge(seen.requestId);
    }
    void queryClient.invalidateQueries({ queryKey: ["account", account, "wallet"] });
    return seen.requestId !== undefined;
  };

  /** Asks a question. Calls of tools that nothing was returned for have no result. */
  const send = ({ system, ...asked }: Asked & Pick<ChatRequest, "key" | "model">): Promise<boolean> => {
    const { prompt, images, tools, ...options } = asked;
    const open = resultsOf(openCallsOf(steps), []);
    const added = [...open, questionOf({ prompt, images })];
    const messages = [...systemOf(system), ...given, ...messagesOf(steps), ...added];
    return run({ ...options, ...(tools.length > 0 && { tools }), messages }, added);
  };

  /** Goes on from the calls of the last answer with what their tools returned. */
  const goOn = (results: readonly string[]): void => {
    const last = steps.at(-1);
    if (!last) return;
    const added = resultsOf(last.answer.calls, results);
    const answered = messageOf(last.answer);
    const messages = [...last.request.messages, ...(answered ? [answered] : []), ...added];
    void run({ ...last.request, messages }, added);
  };

  /** A stopped stream brings no receipt: it is read when the request is settled. */
  const readCharge = async (requestId: string) => {
    for (let reads = 0; reads < READS_MAX; reads++) {
      await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
      const receipt = await queryClient
        .fetchQuery({ ...receiptQuery(account, requestId), staleTime: 0, retry: false })
        .catch(() => undefined);
      if (receipt && receipt.state !== "held") return change((answer) => settle(answer, receipt));
    }
  };

  const last = steps.at(-1)?.answer.state;
  return {
    steps,
    isRunning: last === "waiting" || last === "streaming",
    send,
    goOn,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setChatSteps([]);
    },
  };
}

export type Chat = ReturnType<typeof useChat>;

/** The conversation so far: models remember nothing. Failed and empty answers are left out. */
function messagesOf(steps: readonly ChatStep[]): readonly Message[] {
  return steps.flatMap(({ added, answer }) => {
    const answered = messageOf(answer);
    return answered ? [...added, answered] : [];
  });
}

/** The calls that the conversation ends with, which must have results before the next question. */
function openCallsOf(steps: readonly ChatStep[]): Answer["calls"] {
  return steps.findLast(({ answer }) => messageOf(answer))?.answer.calls ?? [];
}

function systemOf(system: string): readonly Message[] {
  return system.trim() === "" ? [] : [{ role: "system", content: system }];
}

async function stream(
  account: string,
  request: ChatRequest,
  signal: AbortSignal,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const response = await fetch(`/console/api/accounts/${encodeURIComponent(account)}/playground`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  if (!response.ok || !response.body) {
    throw new ApiError(response.status, await response.json().catch(() => undefined), response.headers);
  }
  const read = createEventReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    for (const event of read(piece.value)) onEvent(event);
  }
}

/** A refused request holds nothing, and has an id by which its reason is found. */
function fail(answer: Answer, error: unknown): Answer {
  const isKnown = error instanceof ApiError;
  return {
    ...answer,
    state: "failed",
    requestId: answer.requestId ?? (isKnown ? error.requestId : undefined),
    error: isKnown ? error.message : "The stream broke off. The receipt shows what it cost.",
  };
}
