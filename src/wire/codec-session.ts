import type { ChatRequest } from "../domain/chat-request.ts";
import type {
  AnswerContext,
  AnswerHead,
  EgressCodec,
  IngressCodec,
  PrintOptions,
  ReplyHead,
} from "./codecs.ts";
import { originalNames, shortenIdentifiers } from "./identifiers.ts";
import type { ModelRequest } from "./model-request.ts";
import type { WireProtocol } from "./protocol.ts";
import type { ReplyPart, ReplyReader } from "./reply-part.ts";
import { translateStream, translateWhole } from "./translate.ts";

/** Reads the answers of an upstream for the client of one request. Does not need the request's body. */
export interface AnswerReader {
  /** The upstream's format. */
  readonly wire: WireProtocol;
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
  readonly wire: WireProtocol;
  readonly egress: EgressCodec;
}

/**
 * Translates one request and its answers. The neutral form takes several times the memory of its text, so it
 * is released after the first body. A body with other options than the measured one parses the request again.
 */
export function createCodecSession(codecs: Codecs, request: ModelRequest, chat: ChatRequest): CodecSession {
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
export function createTranslator({ ingress, wire, egress }: Codecs, context: AnswerContext): AnswerReader {
  const { toolNames } = context;
  const restoreName = (name: string) => toolNames.get(name) ?? name;
  const headOfReply = (head: AnswerHead): ReplyHead => ({ ...head, ...context });
  return {
    wire,
    isPassthrough: false,
    context,
    readStream: (head) =>
      translateStream(egress.readStream(head.source), ingress.printStream(headOfReply(head)), restoreName),
    readWhole: (head, text) =>
      translateWhole(
        egress.readWhole(text, head.source),
        (reply) => ingress.printWhole(headOfReply(head), reply),
        restoreName,
      ),
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
