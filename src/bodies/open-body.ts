import type { ChatRequest } from "../domain/chat-request.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { AnswerContext, PrintOptions, WireFormat } from "../wire/format.ts";
import { type CodecSession, findFormatPair } from "../wire/format-pair.ts";
import { lazily } from "../wire/host-reasoning.ts";
import type { CountOptions, ModelRequest, RequestHead } from "../wire/model-request.ts";
import { hashBeginning } from "../wire/prompt-beginning.ts";

/** A body for an upstream: its text, or its bytes in blocks, so that the blocks of the client are not copied. */
export type Printed = string | readonly Uint8Array[];

/** Asks for the translation of a request to one other format. */
export interface PlanQuestion {
  /** The format of the upstreams. */
  readonly surface: Surface;
  /** Options of the bodies that may differ in size; bodies that differ only in names count as one. */
  readonly options: readonly PrintOptions[];
}

export type Planned =
  /** `textBytes` are those of the largest body, without inline media. */
  | { readonly context: AnswerContext; readonly textBytes: number }
  /** The error of a request that the format cannot express. */
  | { readonly untranslatable: unknown };

/** A body whose text is in memory. Synchronous and pure: the worker and the main thread share this code. */
export interface OpenBody {
  readonly request: ModelRequest;
  plan(questions: readonly PlanQuestion[]): readonly Planned[];
  /** Prints the body for an upstream of a format. Throws `untranslatable` or `wrong_shape`. */
  print(surface: Surface, options: PrintOptions): Printed;
  /** Prints the body for a count at an upstream. */
  printCount(options: CountOptions): string;
  /** Hashes the beginning of the prompt; `undefined` for a short or promptless body. */
  beginning(): number | undefined;
  /** Learns what a later body may repeat. Does nothing in most bodies. */
  learn(): void;
}

/** Parses and checks a body. */
export function openBody(wire: WireFormat, text: string): OpenBody {
  return new ParsedBody(wire, wire.parseRequest(text));
}

/** Opens a body with the facts of an earlier parse. Parses only when more than the facts is needed. */
export function reopenBody(wire: WireFormat, text: string, facts: RequestHead): OpenBody {
  const parse = lazily(() => wire.parseRequest(text));
  return new ParsedBody(wire, {
    ...facts,
    text,
    promptText: () => parse().promptText(),
    readChat: () => parse().readChat(),
    readEchoedFields: () => parse().readEchoedFields?.(),
  });
}

/** A class, because closures for each request cost more. */
export class ParsedBody implements OpenBody {
  readonly request: ModelRequest;
  readonly #wire: WireFormat;
  /** By the format of the upstream. */
  readonly #sessions: Partial<Record<Surface, CodecSession>> = {};

  constructor(wire: WireFormat, request: ModelRequest) {
    this.request = request;
    this.#wire = wire;
  }

  plan(questions: readonly PlanQuestion[]): readonly Planned[] {
    // The neutral form takes several times the memory of its text, and is dropped after this call.
    const readChat = lazily(this.request.readChat);
    return questions.map((question) => this.#planOne(question, readChat));
  }

  print(surface: Surface, options: PrintOptions): Printed {
    return this.#sessionWith(surface, this.request.readChat).printUpstreamRequest(options);
  }

  printCount(options: CountOptions): string {
    const { count } = this.#wire;
    if (!count) throw new GatewayError("not_built");
    return count.printRequest(this.request, options);
  }

  beginning(): number | undefined {
    return hashBeginning(this.request.text, this.#wire.surface);
  }

  learn(): void {}

  #planOne({ surface, options }: PlanQuestion, readChat: () => ChatRequest): Planned {
    try {
      const session = this.#sessionWith(surface, readChat);
      const sizes = options.map((each) => session.textBytes(each));
      return { context: session.context, textBytes: Math.max(0, ...sizes) };
    } catch (untranslatable) {
      return { untranslatable };
    }
  }

  #sessionWith(surface: Surface, readChat: () => ChatRequest): CodecSession {
    const session = this.#sessions[surface] ?? this.#openSession(surface, readChat);
    this.#sessions[surface] = session;
    return session;
  }

  #openSession(surface: Surface, readChat: () => ChatRequest): CodecSession {
    const pair = findFormatPair(this.#wire, [surface]);
    if (!pair) throw new GatewayError("not_built");
    return pair.begin(this.request, readChat);
  }
}

/** Returns the facts of a request without its functions, so that they can be sent to another thread. */
export function factsOf(request: RequestHead | ModelRequest): RequestHead {
  if (!("text" in request)) return request;
  const { text: _, promptText: __, readChat: ___, readEchoedFields: ____, ...facts } = request;
  return facts;
}
