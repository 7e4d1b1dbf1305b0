import type { ChatRequest } from "../domain/chat-request.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import {
  type AnswerReader,
  type CodecSession,
  createCodecSession,
  createTranslator,
} from "./codec-session.ts";
import type { AnswerContext, EgressCodec, IngressCodec } from "./codecs.ts";
import type { ModelRequest, RequestFacts } from "./model-request.ts";
import type { WireProtocol } from "./protocol.ts";
import { WIRES } from "./registry.ts";

/** A client's format together with an upstream's: passthrough if they are equal, else a translation. */
export interface ProtocolPair {
  /** The upstream's format. */
  readonly wire: WireProtocol;
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
export function findProtocolPair(
  client: WireProtocol,
  surfaces: readonly Surface[],
): ProtocolPair | undefined {
  const pairs = PAIRS[client.surface];
  const surface = surfaces.includes(client.surface) ? client.surface : surfaces.find((each) => pairs[each]);
  return surface && pairs[surface];
}

type Pairs = Readonly<Record<Surface, ProtocolPair | undefined>>;

/** Every pair, by the client's format and then by the upstream's. `undefined` where no translation exists. */
const PAIRS: Readonly<Record<Surface, Pairs>> = {
  chat: pairsOf(WIRES.chat),
  messages: pairsOf(WIRES.messages),
  responses: pairsOf(WIRES.responses),
  embeddings: pairsOf(WIRES.embeddings),
};

function pairsOf(client: WireProtocol): Pairs {
  return {
    chat: pairOf(client, WIRES.chat),
    messages: pairOf(client, WIRES.messages),
    responses: pairOf(client, WIRES.responses),
    embeddings: pairOf(client, WIRES.embeddings),
  };
}

function pairOf(client: WireProtocol, wire: WireProtocol): ProtocolPair | undefined {
  if (client === wire) return passthrough(wire);
  return client.ingress && wire.egress && translation(client.ingress, wire, wire.egress);
}

function passthrough(wire: WireProtocol): ProtocolPair {
  const answers = (context: AnswerContext): AnswerReader => ({
    wire,
    isPassthrough: true,
    context,
    readStream: () => wire.readStream(context.request),
    readWhole: (_, text) => wire.readWhole(context.request, text),
  });
  return {
    wire,
    isPassthrough: true,
    begin: (request) => ({
      ...answers(passthroughContext(request)),
      textBytes: () => request.input.textBytes,
      printUpstreamRequest: (options) => wire.printUpstreamRequest(request, options),
    }),
    answers,
  };
}

/** Returns the context of answers that pass through. */
export function passthroughContext(request: RequestFacts): AnswerContext {
  return { request, isReasoningShown: true, toolNames: NO_NAMES };
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function translation(ingress: IngressCodec, wire: WireProtocol, egress: EgressCodec): ProtocolPair {
  const codecs = { ingress, wire, egress };
  return {
    wire,
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
