import type { ChatRequest } from "../domain/chat-request.ts";
import type { AnswerHead, ClientEnd, PrintOptions, ReplyHead, UpstreamEnd } from "./ends.ts";
import { createRestore, fitNames } from "./fit-names.ts";
import { translateStream, translateWhole } from "./translate.ts";
import type { ModelRequest, ReplyPart, ReplyReader, WireProtocol } from "./wire-protocol.ts";

/** One request on its way to upstreams of one format, and their answers on the way back. */
export interface Dialogue {
  readonly wire: WireProtocol;
  /** Whether that is the client's own format, so that body and events pass as they are. */
  readonly isVerbatim: boolean;
  /** Bytes of the body that an upstream would get, without inline media: what bounds its count of the input. */
  textBytes(options: PrintOptions): number;
  printUpstreamRequest(options: PrintOptions): string;
  /** A reader for a streamed answer. */
  readStream(head: AnswerHead): ReplyReader;
  /** Reads a whole answer. Throws `UpstreamFault`. */
  readWhole(head: AnswerHead, text: string): ReplyPart;
}

interface Ends {
  readonly client: ClientEnd;
  readonly wire: WireProtocol;
  readonly upstream: UpstreamEnd;
}

/**
 * Translates one request and its answers. The neutral form takes several times the memory of its text, and so is
 * not kept while an upstream thinks: who needs another body than the one that was measured, reads it again.
 */
export function createDialogue(
  { client, wire, upstream }: Ends,
  request: ModelRequest,
  chat: ChatRequest,
): Dialogue {
  const restore = createRestore(chat.tools, upstream);
  const { isShown: isReasoningShown, thinking } = chat.reasoning;
  const keepsSeals = isReasoningShown || thinking === "enabled" || thinking === "adaptive";
  const headOfReply = (head: AnswerHead): ReplyHead => ({ ...head, request, isReasoningShown, keepsSeals });
  let unread: ChatRequest | undefined = chat;
  let printed: { readonly key: string; readonly body: string } | undefined;

  function print(options: PrintOptions): string {
    const body = upstream.printRequest(fitNames(unread ?? request.readChat(), upstream), options);
    unread = undefined;
    return body;
  }
  return {
    wire,
    isVerbatim: false,
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
