import { decodeBlocks } from "../../../src/domain/byte-blocks.ts";
import type { Surface } from "../../../src/domain/model.ts";
import { GatewayError } from "../../../src/errors.ts";
import { addTarget } from "../../../src/http/gemini-bodies.ts";
import type { WireFormat } from "../../../src/wire/format.ts";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import type { ModelRequest } from "../../../src/wire/model-request.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import { drawInteger, drawOne } from "../../support/seeded-random.ts";
import { assertRead } from "../../support/strict-json.ts";
import { type FuzzCase, TRAITS } from "../cases/fuzz-case.ts";
import { type CaseId, stepsOf } from "../cases/steps.ts";
import { readTranslatedChat, readTranslatedGemini, readTranslatedMessages } from "../read/read-translated.ts";

const READ_AGAIN_CHARS_MAX = 100_000;
const UPSTREAM_MODEL = "host-model";
const TARGETS: readonly Surface[] = ["chat", "messages", "responses", "embeddings", "gemini"];

/** The causes with which a body may be rejected before any upstream call. */
const REFUSALS: readonly string[] = [
  "not_json",
  "wrong_shape",
  "unpriced_field",
  "untranslatable",
  "nothing_stored",
  "thread_not_stored",
  "not_built",
];

/**
 * Decodes the body of a case and encodes it for every upstream. Throws when a codec throws an undeclared
 * error, or when a host would reject the result. Returns the number of encoded bodies.
 */
export function readAndPrint(
  fuzzCase: Pick<FuzzCase, "id" | "client" | "body"> & Partial<Pick<FuzzCase, "method">>,
): number {
  const { id, client, body, method } = fuzzCase;
  const wire = WIRES[client === "count_tokens" ? "messages" : client];
  const text = client === "gemini" ? withTarget(body, method) : body.toString();
  const request = unlessRefused(() => wire.parseRequest(text));
  if (!request) return 0;
  return TARGETS.filter((target) => printFor(id, { wire, request, target })).length;
}

/** Adds what the path of a Gemini client says to its body, as the route does. */
function withTarget(body: Buffer, method = "generateContent"): string {
  const target = { model: "m", stream: method.startsWith("stream") };
  return decodeBlocks(addTarget([body], target), { fatal: false });
}

interface Printing {
  readonly wire: WireFormat;
  readonly request: ModelRequest;
  readonly target: Surface;
}

function printFor(id: CaseId, { wire, request, target }: Printing): boolean {
  const exchange = findFormatPair(wire, [target]);
  const dialogue = exchange && unlessRefused(() => exchange.begin(request, request.readChat));
  if (!dialogue) return false;
  const draw = stepsOf(id).draw(`print ${target}`);
  const options = {
    model: UPSTREAM_MODEL,
    outputTokensMax: drawOne(draw, [1, 300, 1_500, drawInteger(draw, 1, 64_000)]),
    outputLimitField: drawOne(draw, [FIELDS.any, FIELDS.old, FIELDS.now]).field,
    stream: request.stream,
    traits: drawOne(draw, Object.values(TRAITS)),
  };
  const textBytes = dialogue.textBytes(options);
  const text = dialogue.printUpstreamRequest(options);
  assertRead(
    textBytes >= 0 && textBytes <= Buffer.byteLength(text) + request.text.length * 3,
    "an invalid size",
  );
  if (dialogue.isPassthrough) JSON.parse(text);
  else {
    if (target === "chat") readTranslatedChat(text, options);
    if (target === "messages") readTranslatedMessages(text, options);
    if (target === "gemini") readTranslatedGemini(text);
    // Larger bodies may exceed limits of the gateway that hosts do not have.
    const wire = Object.values(WIRES).find((each) => each.surface === target);
    if (wire && text.length <= READ_AGAIN_CHARS_MAX)
      unlessRefused(() => wire.parseRequest(asSent(target, text)).readChat(), isJudgement);
  }
  return true;
}

/** A body with what Gemini's paths say of it: the route adds the model and the kind of answer. */
function asSent(target: Surface, text: string): string {
  return target === "gemini" ? text.replace(/}\s*$/, ',"model":"m","stream":false}') : text;
}

const FIELDS = {
  any: { field: undefined },
  old: { field: "max_tokens" },
  now: { field: "max_completion_tokens" },
} as const;

function unlessRefused<Value>(read: () => Value, isRight = isRefusal): Value | undefined {
  try {
    return read();
  } catch (thrown) {
    if (!isRight(thrown)) throw thrown;
    return undefined;
  }
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof GatewayError && REFUSALS.includes(thrown.kind);
}

/** A URL or a number that only the upstream judges. The gateway rejects it from a client of that format. */
function isJudgement(thrown: unknown): boolean {
  return (
    thrown instanceof GatewayError &&
    (thrown.kind === "untranslatable" || /: (?:temperature|top_p|top_k)$/.test(thrown.publicMessage))
  );
}
