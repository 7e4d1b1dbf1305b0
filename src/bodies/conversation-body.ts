import { bytesOf, joinBlocks } from "../domain/byte-blocks.ts";
import type { Capability, Surface } from "../domain/model.ts";
import type { PrintOptions, WireFormat } from "../wire/format.ts";
import { lazily } from "../wire/host-reasoning.ts";
import { findMember } from "../wire/json/edit.ts";
import { type JsonMeasure, skipSpace } from "../wire/json/scan.ts";
import type { ModelRequest } from "../wire/model-request.ts";
import { joinNeeds } from "../wire/request-needs.ts";
import { decodeBody, type NewBody } from "./body.ts";
import { type History, type KnownHistories, sumOfMeasures, tagOf } from "./known-histories.ts";
import { type ConversationFormat, extendHistory, learnHistory, parseRest, TOOLS } from "./learn-history.ts";
import { ParsedBody, type Printed } from "./open-body.ts";

// The next request of a conversation repeats the messages of the last one, byte for byte. Messages that were
// checked once are recognized by their tag and passed on as bytes. The rest of the body, as if it did not have
// them, is parsed and checked like any other body.

/** A smaller body is parsed in less time than this saves. */
const BODY_BYTES_MIN = 32 * 1024;
const ENCODER = new TextEncoder();
const CLOSE_BRACKET = 0x5d;
/** The first byte of a byte order mark, which a decoder drops and a parser does not take. */
const BYTE_ORDER_MARK = 0xef;

/** A large body of a format with conversations. */
interface ConversationBytes {
  readonly wire: ConversationFormat;
  readonly owner: string;
  readonly bytes: Uint8Array;
}

/** Returns a body as that of a conversation; `undefined` for a small one and in other formats. */
export function asConversation({ wire, owner, blocks }: NewBody): ConversationBytes | undefined {
  if (!hasConversation(wire) || bytesOf(blocks) < BODY_BYTES_MIN) return undefined;
  const [first] = blocks;
  return { wire, owner, bytes: blocks.length === 1 && first ? first : joinBlocks(blocks) };
}

function hasConversation(wire: WireFormat): wire is ConversationFormat {
  return wire.conversation !== undefined;
}

/** Bytes of a body that are passed on without being parsed: the first of a list, or all of it. */
interface Cut {
  readonly member: string;
  readonly start: number;
  readonly end: number;
}

/** A body whose first messages are known, and its tools too or not. */
interface Known {
  readonly bytes: Uint8Array;
  readonly history: History;
  /** In the order of the bytes. */
  readonly cuts: readonly Cut[];
  /** The request without what was cut. */
  readonly rest: ModelRequest;
}

/** A body of a conversation, whose messages are learned once it was printed for an upstream of its format. */
export class ConversationBody extends ParsedBody {
  readonly #body: Omit<ConversationBytes, "bytes">;
  readonly #histories: KnownHistories;
  readonly #known: Known | undefined;
  #mayLearn = false;

  constructor(
    body: Omit<ConversationBytes, "bytes">,
    histories: KnownHistories,
    opened: { readonly request: ModelRequest; readonly known?: Known },
  ) {
    super(body.wire, opened.request);
    // Without the bytes, which a body that is parsed whole does not need any more.
    this.#body = { wire: body.wire, owner: body.owner };
    this.#histories = histories;
    this.#known = opened.known;
  }

  override print(surface: Surface, options: PrintOptions): Printed {
    const { wire } = this.#body;
    if (surface !== wire.surface) return super.print(surface, options);
    const blocks = this.#known && printKnown(wire, this.#known, options);
    const printed = blocks ?? super.print(surface, options);
    this.#mayLearn = true;
    return printed;
  }

  override beginning(): number | undefined {
    return this.#known ? this.#known.history.promptHash : super.beginning();
  }

  override learn(): void {
    if (!this.#mayLearn) return;
    this.#mayLearn = false;
    const { wire, owner } = this.#body;
    const history = this.#known ? extendHistory(wire, this.#known) : learnHistory(wire, this.request);
    if (history) this.#histories.add(owner, history);
  }
}

/**
 * Opens a body whose first messages are known. Returns `undefined` for any other, for one that is refused, and for
 * one with more structure than `max`: they are to be parsed whole. Throws `not_json`.
 */
export function openKnown(
  body: ConversationBytes,
  histories: KnownHistories,
  max: JsonMeasure,
): ConversationBody | undefined {
  const { wire, bytes } = body;
  const history = histories.find(body.owner, wire.surface, bytes);
  if (!history) return undefined;
  const tools = findTools(bytes, history);
  const messages = { member: wire.conversation.member, start: history.listStart, end: history.end };
  const cuts = tools ? [messages, tools].sort((one, other) => one.start - other.start) : [messages];
  const text = decodeAround(bytes, cuts);
  if (text === undefined) return undefined;
  const measured = sumOfMeasures(history.measured, tools && history.tools?.measured);
  const rest = parseRest(wire, text, {
    members: max.members - measured.members,
    values: max.values - measured.values,
  });
  if (!rest || rest.input.unbounded) return undefined;
  const known = { bytes, history, cuts, rest };
  return new ConversationBody(body, histories, { request: wholeRequest(wire, known), known });
}

/** Returns where the known tools are in a body; `undefined` for a body with others. */
function findTools(bytes: Uint8Array, { tools, listStart, end }: History): Cut | undefined {
  if (!tools) return undefined;
  const start = tools.offset < 0 ? bytes.byteLength + tools.offset : tools.offset;
  const cut = { member: TOOLS, start, end: start + tools.bytes };
  if (start < 0 || (cut.end > listStart && start < end)) return undefined;
  return tagOf(bytes.subarray(start, cut.end)).equals(tools.tag) ? cut : undefined;
}

/**
 * Decodes a body without its cuts. Returns `undefined` where a cut is not at the beginning of the list of its name
 * at the top level, or where that list is repeated: then it is not known what an upstream would read.
 */
function decodeAround(bytes: Uint8Array, cuts: readonly Cut[]): string | undefined {
  let text = "";
  let from = 0;
  const starts: number[] = [];
  for (const { start, end } of cuts) {
    if (bytes[end] === BYTE_ORDER_MARK) return undefined;
    text += decodeBody([bytes.subarray(from, start)]);
    starts.push(text.length - 1);
    from = end;
  }
  text += decodeBody([bytes.subarray(from)]);
  const isInPlace = cuts.every(({ member }, index) => findMember(text, member)?.start === starts[index]);
  return isInPlace ? text : undefined;
}

/** Returns the request with what was cut. Decodes and parses all of it only where all is needed. */
function wholeRequest(wire: WireFormat, { bytes, history, cuts, rest }: Known): ModelRequest {
  const text = lazily(() => decodeBody([bytes]));
  const parsed = lazily(() => wire.parseRequest(text()));
  const mediaBytes = rest.input.mediaBytes + history.mediaBytes;
  const images = rest.input.images + history.images;
  return {
    ...rest,
    needs: joinNeeds(rest.needs, needsOfCut(cuts, history)),
    input: { ...rest.input, textBytes: bytes.byteLength - mediaBytes, mediaBytes, images },
    get text() {
      return text();
    },
    promptText: () => parsed().promptText(),
    readChat: () => parsed().readChat(),
    readEchoedFields: () => parsed().readEchoedFields?.(),
  };
}

/** What the cut messages and tools need. Bodies with documents or audio have no history. */
function needsOfCut(cuts: readonly Cut[], { images }: History): readonly Capability[] {
  const hasTools = cuts.some(({ member, start, end }) => member === TOOLS && end > start);
  return [...(hasTools ? (["tools"] as const) : []), ...(images > 0 ? (["images"] as const) : [])];
}

/** Prints the rest, with the bytes of the cuts in their lists; `undefined` where an edit may concern these. */
function printKnown(
  wire: ConversationFormat,
  { bytes, cuts, rest }: Known,
  options: PrintOptions,
): readonly Uint8Array[] | undefined {
  // Other hosts take other tools than the provider.
  if (cuts.length > 1 && options.messagesHost) return undefined;
  const printed = wire.printUpstreamRequest(rest, options);
  const blocks: Uint8Array[] = [];
  let from = 0;
  for (const { member, start, end } of cuts) {
    const list = findMember(printed, member);
    if (!list || (member !== TOOLS && isEmptyList(printed, list.start))) return undefined;
    blocks.push(ENCODER.encode(printed.slice(from, list.start + 1)), bytes.subarray(start, end));
    from = list.start + 1;
  }
  blocks.push(ENCODER.encode(printed.slice(from)));
  return blocks;
}

/** Whether all messages that were parsed have been dropped: after those of the history, a comma would be left. */
function isEmptyList(text: string, start: number): boolean {
  return text.charCodeAt(skipSpace(text, start + 1)) === CLOSE_BRACKET;
}
