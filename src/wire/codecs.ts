import type { ChatEvent, ChatReply, FinishEvent, OutputEvent, UsageEvent } from "../domain/chat-event.ts";
import type { ChatRequest } from "../domain/chat-request.ts";
import type { ModelTraits } from "../domain/model.ts";
import type { RequestFacts, SseEvent, UpstreamRequestOptions } from "./protocol.ts";

/** Where an answer comes from. */
export interface Source {
  /** Names the upstream and its model: what they signed goes back to no other. */
  readonly origin: string;
  /** Whether the model is one of Anthropic's, whoever hosts it. */
  readonly isClaude: boolean;
}

/** What an answer that is printed anew says of itself. */
export interface AnswerHead {
  readonly source?: Source | undefined;
  /** Letters and digits that name the answer. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAtS: number;
  /** A guess, for formats that name the input before the upstream has counted it. */
  readonly inputTokens: number;
}

/** A tool as the client of a response calls it. */
export interface AskedTool {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Whether it takes any text, which comes as the one member of a JSON object. */
  readonly isFreeForm: boolean;
}

/** What a response repeats of its request. */
export interface Asked {
  /** Members as JSON without braces. */
  readonly repeated: string;
  /** By the one name that an upstream has for them: those that differ from a function of that name. */
  readonly tools: ReadonlyMap<string, AskedTool>;
  /** Whether reasoning shall come in a form that can be sent back. */
  readonly sealsReasoning: boolean;
}

/** What an answer must know of the request that it answers: plain data, for which the body need not be kept. */
export interface AnswerContext {
  readonly request: RequestFacts;
  /** Whether the client gets to see what was reasoned. */
  readonly isReasoningShown: boolean;
  /** Whether it takes signatures of reasoning to send them back; as what is shown when left out. */
  readonly keepsSeals?: boolean | undefined;
  /** `undefined` where the client's format repeats nothing. */
  readonly asked?: Asked | undefined;
  /** The client's names of tools by those that the upstream got, where the two differ. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/** The head of a translated answer, with the request that it answers. */
export type ReplyHead = AnswerHead & Omit<AnswerContext, "toolNames">;

/** What a body that is printed anew needs beside the request itself. */
export interface PrintOptions extends UpstreamRequestOptions {
  readonly stream: boolean;
  readonly traits: ModelTraits;
  /** As of the source of an answer; without it nothing that was sealed is sent. */
  readonly origin?: string | undefined;
}

/** Whether a model is one of Anthropic's: they alone are told to think in their ways. */
export function isOfClaude({ reasoning }: ModelTraits): boolean {
  return reasoning === "budget" || reasoning === "adaptive";
}

/** Reads one streamed answer into events. One per answer. */
export interface EventReader {
  /** Reads one SSE event: at most one finish in all, and behind it nothing but usage. Throws {@link UpstreamFault}. */
  read(event: SseEvent): readonly ChatEvent[];
  readonly finished: boolean;
  /** Whether the upstream has said its last event. */
  readonly done: boolean;
}

/** Prints one answer as a stream for a client. One per answer. */
export interface EventPrinter {
  /** What the client gets to see of one event, with whatever must stand before it; "" for nothing. */
  print(event: OutputEvent): string;
  /** The rest, from the finish on. Throws {@link UpstreamFault} when what came cannot be ended well. */
  end(finish: FinishEvent, usage: UsageEvent | undefined): string;
}

/** The client's end of a format, for answers that came in another. */
export interface ClientEnd {
  printStream(head: ReplyHead): EventPrinter;
  /** Throws {@link UpstreamFault} for an answer that the format cannot say. */
  printWhole(head: ReplyHead, reply: ChatReply): string;
}

/** The upstream's end of a format, for requests that came in another. */
export interface UpstreamEnd {
  /** Longest tool name and longest id of a call that its hosts take. */
  readonly nameCharsMax: number;
  readonly idCharsMax: number;
  /** Where in the client's body something stands that this format cannot say and the client would miss. */
  findUntranslatable(request: ChatRequest): string | undefined;
  /** The body, with the model, the limit and the stream flag of the options. */
  printRequest(request: ChatRequest, options: PrintOptions): string;
  readStream(source?: Source): EventReader;
  /** The events of a whole answer: output, one finish, usage if reported. Throws {@link UpstreamFault}. */
  readWhole(text: string, source?: Source): readonly ChatEvent[];
}
