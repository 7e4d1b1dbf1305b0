import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import { unwrapCount } from "../wire/google-gemini/count-tokens.ts";
import { type EmbedMethod, readEmbedRequest } from "../wire/google-gemini/embeddings.ts";

const ENCODER = new TextEncoder();
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Parsed in this thread: a hundred texts of 8,000 tokens have less. */
const EMBED_BYTES_MAX = 4 * 1024 * 1024;

/** The members that Google's clients send in the path, and other clients in the body. */
interface BodyTarget {
  readonly model: string;
  readonly stream: boolean;
}

/**
 * Adds what the path says as the last members of a body, without parsing it: whatever is read of the body later has
 * everything. Of a repeated key the last one counts. Text that is no object stays as it is, and is refused later.
 */
export function addTarget(blocks: readonly Uint8Array[], target: BodyTarget): readonly Uint8Array[] {
  const end = findLast(blocks, { block: blocks.length - 1, index: Infinity });
  if (!end || end.byte !== CLOSE_BRACE) return blocks;
  const before = findLast(blocks, { block: end.block, index: end.index });
  if (!before) return blocks;
  const members = JSON.stringify(target);
  const added = before.byte === OPEN_BRACE ? members.slice(1) : `,${members.slice(1)}`;
  const last = blocks[end.block]?.subarray(0, end.index) ?? new Uint8Array();
  return [...blocks.slice(0, end.block), last, ENCODER.encode(added)];
}

/** A place in a list of blocks. */
interface Place {
  readonly block: number;
  readonly index: number;
}

/** Finds the last byte before a place that is no white space of JSON. */
function findLast(
  blocks: readonly Uint8Array[],
  before: Place,
): (Place & { readonly byte: number }) | undefined {
  for (let block = before.block; block >= 0; block -= 1) {
    const bytes = blocks[block] ?? new Uint8Array();
    const end = block === before.block ? Math.min(before.index, bytes.length) : bytes.length;
    for (let index = end - 1; index >= 0; index -= 1) {
      const byte = bytes[index] ?? 0;
      if (!isSpace(byte)) return { block, index, byte };
    }
  }
  return undefined;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Throws `not_json` for bytes that are not UTF-8. */
function decodeBody(blocks: readonly Uint8Array[]): string {
  try {
    return decodeBlocks(blocks, { fatal: true });
  } catch (reason) {
    throw new GatewayError("not_json", { reason });
  }
}

/** Unwraps the request whose tokens a client counts. Text that is no JSON stays as it is, and is refused later. */
export function unwrapCountBody(blocks: readonly Uint8Array[]): readonly Uint8Array[] {
  const text = decodeBody(blocks);
  const unwrapped = unwrapCount(text);
  return unwrapped === text ? blocks : [ENCODER.encode(unwrapped)];
}

/** Converts a body that asks for embeddings into OpenAI's form. */
export function readEmbedBody(
  blocks: readonly Uint8Array[],
  method: EmbedMethod,
  model: string,
): readonly Uint8Array[] {
  if (bytesOf(blocks) > EMBED_BYTES_MAX) throw new GatewayError("body_too_large");
  return [ENCODER.encode(readEmbedRequest(decodeBody(blocks), method, model))];
}
