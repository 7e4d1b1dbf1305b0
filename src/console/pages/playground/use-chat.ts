import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { applyEvent, ask, type Chat, createEventReader, NEW_CHAT } from "./events.ts";

interface ChatRequest {
  readonly key: string;
  readonly model: string;
  readonly maxTokens: number | undefined;
}

/** A streamed conversation as one key. `stop` ends the request, which is then settled for what it used. */
export function useChat(account: string) {
  const [chat, setChat] = useState<Chat>(NEW_CHAT);
  const running = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => running.current?.abort(), []);

  const send = useCallback(
    async (prompt: string, before: Chat, { key, model, maxTokens }: ChatRequest) => {
      const asked = ask(before, prompt);
      setChat(asked);
      const controller = new AbortController();
      running.current = controller;
      const body = { key, model, messages: asked.messages, ...(maxTokens && { max_tokens: maxTokens }) };
      try {
        const problem = await stream(account, body, controller.signal, (event) =>
          setChat((now) => applyEvent(now, event)),
        );
        setChat((now) => ({ ...now, isRunning: false, problem: problem ?? now.problem }));
      } catch {
        const problem = controller.signal.aborted ? "Stopped." : "The connection was lost.";
        setChat((now) => ({ ...now, isRunning: false, problem }));
      }
      await queryClient.invalidateQueries({ queryKey: ["account", account] });
    },
    [account, queryClient],
  );

  const stop = useCallback(() => running.current?.abort(), []);
  const clear = useCallback(() => setChat(NEW_CHAT), []);
  return { chat, send, stop, clear };
}

type OnEvent = (event: Parameters<typeof applyEvent>[1]) => void;

/** Reads a stream to its end. Returns the message of a request that was refused before its stream. */
async function stream(
  account: string,
  body: object,
  signal: AbortSignal,
  onEvent: OnEvent,
): Promise<string | undefined> {
  const answer = await fetch(`/console/api/accounts/${encodeURIComponent(account)}/playground`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok || !answer.body) return readProblem(answer);
  const readEvents = createEventReader();
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    for (const event of readEvents(decoder.decode(value, { stream: true }))) onEvent(event);
  }
}

async function readProblem(answer: Response): Promise<string> {
  try {
    const body: unknown = await answer.json();
    // Safe because every failure of the API has this envelope.
    return (body as { readonly error: { readonly message: string } }).error.message;
  } catch {
    return "The request failed.";
  }
}
