import { createCipheriv, randomBytes } from "node:crypto";
import type { ClientSurface } from "../domain/model.ts";
import type { JsonMeasure } from "../wire/json/scan.ts";

/**
 * The beginning of a body up to a border between two messages, as a body that was checked had it. It has sums and
 * a tag instead of the messages.
 */
export interface History {
  readonly surface: ClientSurface;
  /** The index of the first byte after the bracket that opens the list of messages. */
  readonly listStart: number;
  /** The index of the first byte of the message after the beginning. */
  readonly end: number;
  readonly sample: number;
  readonly tag: Buffer;
  /** What the messages of the beginning add to the input of the body. */
  readonly mediaBytes: number;
  readonly images: number;
  /** The structure of the messages. */
  readonly measured: JsonMeasure;
  /** Hash of the beginning of the prompt. */
  readonly promptHash: number | undefined;
  /** The tools of the body, before or after its messages; `undefined` where its price may depend on them. */
  readonly tools: KnownTools | undefined;
}

/** The text between the brackets of a list of tools that was checked. */
export interface KnownTools {
  /** The index of its first byte, from the start of the body or, if negative, from its end. */
  readonly offset: number;
  readonly bytes: number;
  readonly tag: Buffer;
  readonly measured: JsonMeasure;
}

/** Remembers the beginnings of bodies by account, so that no account learns of another's by the time it takes. */
export interface KnownHistories {
  /** Returns the longest known beginning of a body; `undefined` for a body with none. */
  find(owner: string, surface: ClientSurface, bytes: Uint8Array): History | undefined;
  add(owner: string, history: History): void;
}

/** Conversations of one account at a time, and of all. A history takes about 300 bytes. */
interface KnownHistoriesOptions {
  readonly ownerMax: number;
  readonly ownersMax: number;
}

const DEFAULTS: KnownHistoriesOptions = { ownerMax: 64, ownersMax: 512 };

export function createKnownHistories(options: Partial<KnownHistoriesOptions> = {}): KnownHistories {
  const { ownerMax, ownersMax } = { ...DEFAULTS, ...options };
  /** The owner that was seen last is the last one, and its newest history is the first. */
  const byOwner = new Map<string, History[]>();

  function touch(owner: string): History[] {
    const histories = byOwner.get(owner) ?? [];
    byOwner.delete(owner);
    byOwner.set(owner, histories);
    return histories;
  }
  return {
    find(owner, surface, bytes) {
      if (!byOwner.has(owner)) return undefined;
      const histories = touch(owner);
      const isBeginning = createCheck(bytes);
      let found: History | undefined;
      for (const each of histories) {
        if (each.surface === surface && each.end > (found?.end ?? 0) && isBeginning(each)) found = each;
      }
      if (found) moveToFront(histories, found);
      return found;
    },
    add(owner, history) {
      const histories = touch(owner);
      histories.unshift(history);
      if (histories.length > ownerMax) histories.pop();
      const [oldest] = byOwner.keys();
      if (byOwner.size > ownersMax && oldest !== undefined) byOwner.delete(oldest);
    },
  };
}

function moveToFront(histories: History[], history: History): void {
  histories.splice(histories.indexOf(history), 1);
  histories.unshift(history);
}

/**
 * Returns a check whether a body begins with a history. Tags the beginning of one length once: an account may have
 * many conversations that differ only in a name or a date.
 */
function createCheck(bytes: Uint8Array): (history: History) => boolean {
  const tags = new Map<number, Buffer>();
  return ({ end, sample, tag }) => {
    if (end >= bytes.byteLength || sampleOf(bytes, end) !== sample) return false;
    const own = tags.get(end) ?? tagOf(bytes.subarray(0, end));
    tags.set(end, own);
    return own.equals(tag);
  };
}

const SAMPLES = 32;

/** Hashes some bytes of a beginning, which tells most beginnings apart without reading them. */
export function sampleOf(bytes: Uint8Array, end: number): number {
  const step = Math.max(1, Math.floor(end / SAMPLES));
  let sample = end;
  for (let at = end - 1; at >= 0; at -= step) sample = (Math.imul(sample, 31) + (bytes[at] ?? 0)) | 0;
  return sample;
}

const TAG_KEY = randomBytes(16);
const TAG_NONCE = randomBytes(12);

/**
 * Returns the GMAC of bytes under a key of this process, at 30 GB/s. Tags are never shown, so that one nonce is
 * safe, and no client can make two beginnings with one tag: a guess succeeds once in 2^100.
 */
export function tagOf(bytes: Uint8Array): Buffer {
  const mac = createCipheriv("aes-128-gcm", TAG_KEY, TAG_NONCE);
  mac.setAAD(bytes);
  mac.final();
  return mac.getAuthTag();
}

/** Adds up the structure of two texts. */
export function sumOfMeasures(one: JsonMeasure, other: JsonMeasure = { members: 0, values: 0 }): JsonMeasure {
  return { members: one.members + other.members, values: one.values + other.values };
}
