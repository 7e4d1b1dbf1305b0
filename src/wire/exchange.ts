import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { ClientEnd, PrintOptions, ReplyHead, UpstreamEnd } from "./ends.ts";
import { fitNames } from "./fit-names.ts";
import { translateStream, translateWhole } from "./translate.ts";
import type { ModelRequest, ReplyPart, ReplyReader, WireProtocol } from "./wire-protocol.ts";
import { WIRES } from "./wires.ts";

/** How a client of one format and an upstream of the same or another come to understand each other. */
export interface Exchange {
  /** The format that the upstream is spoken to in. */
  readonly wire: WireProtocol;
  /** Whether it is the client's own, so that body and events pass as they are. */
  readonly isVerbatim: boolean;
  /** Why this request cannot be put to such an upstream, if it cannot. */
  refusalOf(request: ModelRequest): GatewayError | undefined;
  printUpstreamRequest(request: ModelRequest, options: PrintOptions): string;
  /** A reader for a streamed answer. */
  readStream(head: ReplyHead): ReplyReader;
  /** Reads a whole answer. Throws `UpstreamFault`. */
  readWhole(head: ReplyHead, text: string): ReplyPart;
}

/** The way from a client to an upstream that speaks these formats: its own if it can, else a translation. */
export function findExchange(client: WireProtocol, surfaces: readonly Surface[]): Exchange | undefined {
  const surface = surfaces.includes(client.surface) ? client.surface : surfaces.find(isReachable(client));
  const wire = surface && WIRES[surface];
  return wire && exchangeBetween(client, wire);
}

const isReachable = (client: WireProtocol) => (surface: Surface) =>
  client.client !== undefined && WIRES[surface]?.upstream !== undefined;

const EXCHANGES = new Map<string, Exchange>();

function exchangeBetween(client: WireProtocol, wire: WireProtocol): Exchange {
  const pair = `${client.surface} ${wire.surface}`;
  const known = EXCHANGES.get(pair) ?? createExchange(client, wire);
  EXCHANGES.set(pair, known);
  return known;
}

function createExchange(client: WireProtocol, wire: WireProtocol): Exchange {
  if (client.surface === wire.surface) return verbatim(wire);
  if (!client.client || !wire.upstream) throw new Error(`No way from ${client.surface} to ${wire.surface}`);
  return translation(client.client, wire, wire.upstream);
}

function verbatim(wire: WireProtocol): Exchange {
  return {
    wire,
    isVerbatim: true,
    refusalOf: () => undefined,
    printUpstreamRequest: wire.printUpstreamRequest,
    readStream: ({ request }) => wire.readStream(request),
    readWhole: ({ request }, text) => wire.readWhole(request, text),
  };
}

function translation(client: ClientEnd, wire: WireProtocol, upstream: UpstreamEnd): Exchange {
  return {
    wire,
    isVerbatim: false,
    refusalOf: (request) => findRefusal(request, upstream),
    printUpstreamRequest: (request, options) =>
      upstream.printRequest(fitNames(request.chat(), upstream).request, options),
    readStream: (head) => {
      const { restore } = fitNames(head.request.chat(), upstream);
      return translateStream(upstream.readStream(), client.printStream(head), restore);
    },
    readWhole: (head, text) => {
      const { restore } = fitNames(head.request.chat(), upstream);
      return translateWhole(upstream.readWhole(text), (reply) => client.printWhole(head, reply), restore);
    },
  };
}

function findRefusal(request: ModelRequest, upstream: UpstreamEnd): GatewayError | undefined {
  try {
    const path = upstream.findUntranslatable(request.chat());
    return path === undefined ? undefined : new GatewayError("untranslatable", { path });
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
}
