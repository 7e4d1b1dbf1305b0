import type { ChatReply } from "../domain/chat-event.ts";
import type { ChatRequest } from "../domain/chat-request.ts";
import type { ClientSurface, Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import { beginEmbeddings, readEmbeddings } from "./embeddings/translate.ts";
import type {
  AnswerContext,
  AnswerHead,
  EgressCodec,
  EmbeddingsFormat,
  IngressCodec,
  PrintOptions,
  ReplyHead,
  UpstreamFormat,
  WireFormat,
} from "./format.ts";
import { originalNames, shortenIdentifiers } from "./identifiers.ts";
import type { ModelRequest, RequestHead } from "./model-request.ts";
import { FORMATS, WIRES } from "./registry.ts";
import { type ReplyPart, type ReplyReader, ResponseReader } from "./reply-part.ts";
import { translateStream, translateWhole } from "./translate.ts";

/** A client's format together with an upstream's: passthrough if they are equal, else a translation. */
export interface FormatPair {
  /** The upstream's format. */
  readonly format: UpstreamFormat;
  /** Whether the client has the upstream's format, so that bodies pass through but for a few members. */
  readonly isPassthrough: boolean;
  /**
   * Starts the session of a request, whose neutral form `readChat` returns. Throws `untranslatable` or
   * `wrong_shape` for a request that the upstream's format cannot represent.
   */
  begin(request: ModelRequest, readChat: () => ChatRequest): CodecSession;
  /** Creates a reader for the answers to a request, which another thread may have begun. */
  answers(context: AnswerContext): AnswerReader;
}

/**
 * Returns the pair for an upstream that speaks these formats: passthrough if possible, else a translation.
 */
export function findFormatPair(client: WireFormat, surfaces: readonly Surface[]): FormatPair | undefined {
  const pairs = PAIRS[client.surface];
  const surface = surfaces.includes(client.surface) ? client.surface : surfaces.find((each) => pairs[each]);
  return surface && pairs[surface];
}

type Pairs = Readonly<Record<Surface, FormatPair | undefined>>;

/** Every pair, by the client's format and then by the upstream's. `undefined` where no translation exists. */
const PAIRS: Readonly<Record<ClientSurface, Pairs>> = mapValues(WIRES, (client) =>
  mapValues(FORMATS, (format) => pairOf(client, format)),
);

function mapValues<K extends string, V, W>(record: Readonly<Record<K, V>>, map: (value: V) => W) {
  // Safe because each key of the record gets a value.
  return Object.fromEntries(Object.keys(record).map((key) => [key, map(record[key as K])])) as Record<K, W>;
}

function pairOf(client: WireFormat, format: UpstreamFormat): FormatPair | undefined {
  if (client.surface === format.surface) return passthrough(client);
  if (client.surface === "embeddings") return isOfEmbeddings(format) ? embeddingsPair(format) : undefined;
  return client.ingress && format.egress && translation(client.ingress, format, format.egress);
}

function isOfEmbeddings(format: UpstreamFormat): format is EmbeddingsFormat {
  return format.embeddings !== undefined;
}

function embeddingsPair(format: EmbeddingsFormat): FormatPair {
  return {
    format,
    isPassthrough: false,
    begin: (request) => beginEmbeddings(format, request),
    answers: (context) => readEmbeddings(format, context),
  };
}

function passthrough(wire: WireFormat): FormatPair {
  return {
    format: wire,
    isPassthrough: true,
    begin: (request) => new PassthroughSession(wire, request),
    answers: (context) => new PassthroughReader(wire, context),
  };
}

/** A class, because closures for each request cost more. */
class PassthroughReader implements AnswerReader {
  readonly isPassthrough = true;
  readonly format: WireFormat;
  readonly context: AnswerContext;

  constructor(wire: WireFormat, context: AnswerContext) {
    this.format = wire;
    this.context = context;
  }

  readStream(): ReplyReader {
    return this.format.readStream(this.context.request);
  }

  readWhole(head: AnswerHead, text: string): ReplyPart {
    const part = this.format.readWhole(this.context.request, text);
    return head.isFollowed ? withResponse(part, this.format, text) : part;
  }
}

/** Adds what a whole answer says of itself. The text must have been read before. */
function withResponse(part: ReplyPart, { surface }: UpstreamFormat, text: string): ReplyPart {
  const reader = new ResponseReader(surface);
  reader.read(text.trimStart());
  return { ...part, response: reader.facts() };
}

class PassthroughSession extends PassthroughReader implements CodecSession {
  readonly #request: ModelRequest;

  constructor(wire: WireFormat, request: ModelRequest) {
    super(wire, passthroughContext(request));
    this.#request = request;
  }

  textBytes(): number {
    return this.#request.input.textBytes;
  }

  printUpstreamRequest(options: PrintOptions): string {
    return this.format.printUpstreamRequest(this.#request, options);
  }
}

/** Returns the context of answers that pass through. */
export function passthroughContext(request: RequestHead): AnswerContext {
  return { request, isReasoningShown: true, toolNames: NO_NAMES };
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function translation(ingress: IngressCodec, format: UpstreamFormat, egress: EgressCodec): FormatPair {
  const codecs = { ingress, format, egress };
  return {
    format,
    isPassthrough: false,
    begin(request, readChat) {
      const chat = readChat();
      const path = egress.findUntranslatable(chat);
      if (path !== undefined) throw new GatewayError("untranslatable", { path });
      return createCodecSession(codecs, request, chat);
    },
    answers: (context) => createTranslator(codecs, context),
  };
}

/** Reads the answers of an upstream for the client of one request. Does not need the request's body. */
export interface AnswerReader {
  /** The upstream's format. */
  readonly format: UpstreamFormat;
  /** Whether the client has the upstream's format, so that bodies and events pass through. */
  readonly isPassthrough: boolean;
  readonly context: AnswerContext;
  /** Creates a reader for a streamed answer. */
  readStream(head: AnswerHead): ReplyReader;
  /** Reads a whole answer. Throws `UpstreamFault`. */
  readWhole(head: AnswerHead, text: string): ReplyPart;
}

/** One request for upstreams of one format, and the reader of their answers. */
export interface CodecSession extends AnswerReader {
  /** Returns the bytes of the upstream's body without inline media: an upper bound of its input tokens. */
  textBytes(options: PrintOptions): number;
  printUpstreamRequest(options: PrintOptions): string;
}

/** The codecs between a client's format and an upstream's. */
interface Codecs {
  readonly ingress: IngressCodec;
  readonly format: UpstreamFormat;
  readonly egress: EgressCodec;
}

/**
 * Translates one request and its answers. The neutral form takes several times the memory of its text, so it
 * is released after the first body. A body with other options than the measured one parses the request again.
 */
function createCodecSession(codecs: Codecs, request: ModelRequest, chat: ChatRequest): CodecSession {
  const { egress } = codecs;
  let parsed: ChatRequest | undefined = chat;
  let measured: { readonly key: string; readonly body: string } | undefined;

  function print(options: PrintOptions): string {
    const body = egress.printRequest(shortenIdentifiers(parsed ?? request.readChat(), egress), options);
    parsed = undefined;
    return body;
  }
  return {
    ...createTranslator(codecs, contextOf(request, chat, egress)),
    textBytes(options) {
      const body = print(options);
      measured ??= { key: JSON.stringify(options), body };
      return Buffer.byteLength(body) - request.input.mediaBytes;
    },
    printUpstreamRequest(options) {
      const body = measured?.key === JSON.stringify(options) ? measured.body : print(options);
      measured = undefined;
      return body;
    },
  };
}

/** Translates the answers to a request with the given context. */
function createTranslator({ ingress, format, egress }: Codecs, context: AnswerContext): AnswerReader {
  const { toolNames } = context;
  const restoreName = (name: string) => toolNames.get(name) ?? name;
  const headOfReply = (head: AnswerHead): ReplyHead => ({ ...head, ...context });
  return {
    format,
    isPassthrough: false,
    context,
    readStream: (head) =>
      translateStream(egress.readStream(head.source), ingress.printStream(headOfReply(head)), restoreName),
    readWhole(head, text) {
      const print = (reply: ChatReply) => ingress.printWhole(headOfReply(head), reply);
      const part = translateWhole(egress.readWhole(text, head.source), print, restoreName);
      return head.isFollowed ? withResponse(part, format, text) : part;
    },
  };
}

function contextOf(request: ModelRequest, chat: ChatRequest, egress: EgressCodec): AnswerContext {
  const { isShown: isReasoningShown, thinking } = chat.reasoning;
  return {
    request,
    isReasoningShown,
    keepsSignatures: isReasoningShown || thinking === "enabled" || thinking === "adaptive",
    echoed: request.readEchoedFields?.(),
    toolNames: originalNames(chat.tools, egress),
  };
}
