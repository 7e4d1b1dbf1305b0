import type { ChatRequest } from "../domain/chat-request.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import { printCountRequest } from "../wire/anthropic-messages/count-tokens.ts";
import type { CodecSession } from "../wire/codec-session.ts";
import type { AnswerContext, PrintOptions } from "../wire/codecs.ts";
import { lazily } from "../wire/lazily.ts";
import type { ModelRequest, RequestFacts } from "../wire/model-request.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { findProtocolPair } from "../wire/protocol-pair.ts";

/** Whether, and how, a request can be put to upstreams of one other format. */
export interface PlanQuestion {
  /** The format that they are spoken to in. */
  readonly surface: Surface;
  /** What the bodies for them may differ in beside names. */
  readonly options: readonly PrintOptions[];
}

export type Planned =
  /** Bytes of the largest of those bodies, without inline media. */
  | { readonly context: AnswerContext; readonly textBytes: number }
  /** Why it cannot. */
  | { readonly refusal: unknown };

/** A body whose text is at hand, and all that is asked of it. Synchronous and pure: the same in every thread. */
export interface OpenBody {
  readonly request: ModelRequest;
  plan(questions: readonly PlanQuestion[]): readonly Planned[];
  /** The body for an upstream of a format. Throws `untranslatable` or `wrong_shape`. */
  print(surface: Surface, options: PrintOptions): string;
  /** The body for an upstream that counts the prompt; of betas that change a price, those of `betas` stay. */
  printCount(model: string, betas: readonly string[] | undefined): string;
}

/** Reads and checks a text; with the facts of an earlier reading only once something more than its text is asked for. */
export function openBody(wire: WireProtocol, text: string, facts?: RequestFacts): OpenBody {
  const request = facts ? reopen(wire, text, facts) : wire.parseRequest(text);
  const dialogues = new Map<Surface, CodecSession>();

  function dialogueWith(surface: Surface, readChat = request.readChat): CodecSession {
    const dialogue = dialogues.get(surface) ?? beginDialogue({ wire, request, readChat }, surface);
    dialogues.set(surface, dialogue);
    return dialogue;
  }
  function planOne({ surface, options }: PlanQuestion, readChat: () => ChatRequest): Planned {
    let dialogue: CodecSession;
    try {
      dialogue = dialogueWith(surface, readChat);
    } catch (refusal) {
      return { refusal };
    }
    const sizes = options.map((each) => dialogue.textBytes(each));
    return { context: dialogue.context, textBytes: Math.max(0, ...sizes) };
  }
  return {
    request,
    plan(questions) {
      // The neutral form takes several times the memory of its text: it is kept no longer than this takes.
      const readChat = lazily(request.readChat);
      return questions.map((question) => planOne(question, readChat));
    },
    print: (surface, options) => dialogueWith(surface).printUpstreamRequest(options),
    printCount: (model, betas) => printCountRequest(request, model, betas),
  };
}

interface Beginning {
  readonly wire: WireProtocol;
  readonly request: ModelRequest;
  readChat(): ChatRequest;
}

function beginDialogue({ wire, request, readChat }: Beginning, surface: Surface): CodecSession {
  const exchange = findProtocolPair(wire, [surface]);
  if (!exchange) throw new GatewayError("not_built");
  return exchange.begin(request, readChat);
}

function reopen(wire: WireProtocol, text: string, facts: RequestFacts): ModelRequest {
  const parse = lazily(() => wire.parseRequest(text));
  return {
    ...facts,
    text,
    promptText: () => parse().promptText(),
    readChat: () => parse().readChat(),
    readEchoedFields: () => parse().readEchoedFields?.(),
  };
}

/** The facts of a request by themselves, as they can be sent to another thread. */
export function factsOf(request: RequestFacts | ModelRequest): RequestFacts {
  if (!("text" in request)) return request;
  const { text: _, promptText: __, readChat: ___, readEchoedFields: ____, ...facts } = request;
  return facts;
}
