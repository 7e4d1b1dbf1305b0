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
import type { ModelRequest, RequestFacts, WireProtocol } from "./protocol.ts";
import { WIRES } from "./registry.ts";

/** How a client of one format and an upstream of the same or another come to understand each other. */
export interface ProtocolPair {
  /** The format that the upstream is spoken to in. */
  readonly wire: WireProtocol;
  /** Whether that is the client's own, so that bodies pass as they are but for a few members. */
  readonly isPassthrough: boolean;
  /**
   * Takes up a request, of which `readChat` gives the neutral form. Throws `untranslatable` or `wrong_shape` for
   * one that cannot be put to such an upstream.
   */
  begin(request: ModelRequest, readChat: () => ChatRequest): CodecSession;
  /** Reads the answers to a request that was begun, maybe in another thread. */
  answers(context: AnswerContext): AnswerReader;
}

/** The way from a client to an upstream that speaks these formats: its own if it can, else a translation. */
export function findProtocolPair(
  client: WireProtocol,
  surfaces: readonly Surface[],
): ProtocolPair | undefined {
  const surface = surfaces.includes(client.surface) ? client.surface : surfaces.find(isReachable(client));
  const wire = surface && WIRES[surface];
  return wire && exchangeBetween(client, wire);
}

const isReachable = (client: WireProtocol) => (surface: Surface) =>
  client.ingress !== undefined && WIRES[surface].egress !== undefined;

const EXCHANGES = new Map<string, ProtocolPair>();

function exchangeBetween(client: WireProtocol, wire: WireProtocol): ProtocolPair {
  const pair = `${client.surface} ${wire.surface}`;
  const known = EXCHANGES.get(pair) ?? createExchange(client, wire);
  EXCHANGES.set(pair, known);
  return known;
}

function createExchange(client: WireProtocol, wire: WireProtocol): ProtocolPair {
  if (client.surface === wire.surface) return passing(wire);
  if (!client.ingress || !wire.egress) throw new Error(`No way from ${client.surface} to ${wire.surface}`);
  return translation(client.ingress, wire, wire.egress);
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function passing(wire: WireProtocol): ProtocolPair {
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

/** What answers must know that pass as they are. */
export function passthroughContext(request: RequestFacts): AnswerContext {
  return { request, isReasoningShown: true, toolNames: NO_NAMES };
}

function translation(client: IngressCodec, wire: WireProtocol, upstream: EgressCodec): ProtocolPair {
  const ends = { client, wire, upstream };
  return {
    wire,
    isPassthrough: false,
    begin(request, readChat) {
      const chat = readChat();
      const path = upstream.findUntranslatable(chat);
      if (path !== undefined) throw new GatewayError("untranslatable", { path });
      return createCodecSession(ends, request, chat);
    },
    answers: (context) => createTranslator(ends, context),
  };
}
