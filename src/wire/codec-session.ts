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
import type { ModelRequest, ReplyPart, ReplyReader, WireProtocol } from "./protocol.ts";
import { translateStream, translateWhole } from "./translate.ts";

/** How the answers of an upstream are read for the client of one request. Needs nothing of its body. */
export interface AnswerReader {
  /** The format of the upstream. */
  readonly wire: WireProtocol;
  /** Whether that is the client's own format, so that body and events pass as they are. */
  readonly isPassthrough: boolean;
  readonly context: AnswerContext;
  /** A reader for a streamed answer. */
  readStream(head: AnswerHead): ReplyReader;
  /** Reads a whole answer. Throws `UpstreamFault`. */
  readWhole(head: AnswerHead, text: string): ReplyPart;
}

/** One request on its way to upstreams of one format, and their answers on the way back. */
export interface CodecSession extends AnswerReader {
  /** Bytes of the body that an upstream would get, without inline media: what bounds its count of the input. */
  textBytes(options: PrintOptions): number;
  printUpstreamRequest(options: PrintOptions): string;
}

interface Ends {
  readonly client: IngressCodec;
  readonly wire: WireProtocol;
  readonly upstream: EgressCodec;
}

/**
 * Translates one request and its answers. The neutral form takes several times the memory of its text, and so is
 * not kept while an upstream thinks: who needs another body than the one that was measured, reads it again.
 */
export function createCodecSession(ends: Ends, request: ModelRequest, chat: ChatRequest): CodecSession {
  const { upstream } = ends;
  let unread: ChatRequest | undefined = chat;
  let printed: { readonly key: string; readonly body: string } | undefined;

  function print(options: PrintOptions): string {
    const body = upstream.printRequest(shortenIdentifiers(unread ?? request.readChat(), upstream), options);
    unread = undefined;
    return body;
  }
  return {
    ...createTranslator(ends, contextOf(request, chat, upstream)),
    textBytes(options) {
      const body = print(options);
      printed ??= { key: JSON.stringify(options), body };
      return Buffer.byteLength(body) - request.input.mediaBytes;
    },
    printUpstreamRequest(options) {
      const body = printed?.key === JSON.stringify(options) ? printed.body : print(options);
      printed = undefined;
      return body;
    },
  };
}

/** Translates the answers to a request of which these facts are known. */
export function createTranslator({ client, wire, upstream }: Ends, context: AnswerContext): AnswerReader {
  const { toolNames } = context;
  const restore = (name: string) => toolNames.get(name) ?? name;
  const headOfReply = (head: AnswerHead): ReplyHead => ({ ...head, ...context });
  return {
    wire,
    isPassthrough: false,
    context,
    readStream: (head) =>
      translateStream(upstream.readStream(head.source), client.printStream(headOfReply(head)), restore),
    readWhole: (head, text) =>
      translateWhole(
        upstream.readWhole(text, head.source),
        (reply) => client.printWhole(headOfReply(head), reply),
        restore,
      ),
  };
}

function contextOf(request: ModelRequest, chat: ChatRequest, upstream: EgressCodec): AnswerContext {
  const { isShown: isReasoningShown, thinking } = chat.reasoning;
  return {
    request,
    isReasoningShown,
    keepsSignatures: isReasoningShown || thinking === "enabled" || thinking === "adaptive",
    echoed: request.readEchoedFields?.(),
    toolNames: originalNames(chat.tools, upstream),
  };
}
