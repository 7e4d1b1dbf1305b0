import { gunzipSync } from "node:zlib";
import { deriveKey, type MasterKey, unseal } from "../db/sealing.ts";
import type { RecordingContent } from "./recording.ts";
import type { StoredRecording } from "./store.ts";

/** Whose recording a key is for. */
interface SealedPlace {
  readonly accountId: string;
  readonly requestId: string;
  /** The salt of the API key, in base64. */
  readonly salt: string;
}

/** Derives the key of one recording. Without the salt in the database or the master key outside of it there is none. */
export function deriveDataKey({ bytes }: MasterKey, { accountId, requestId, salt }: SealedPlace): Uint8Array {
  const info = `tollgate recording 1 ${accountId} ${requestId}`;
  return deriveKey(bytes, { info, salt: Buffer.from(salt, "base64") });
}

interface SealedRecording extends StoredRecording {
  /** The salt of its API key; `undefined` when the key is gone. */
  readonly salt: string | undefined;
}

/**
 * Decrypts a recording. Returns `undefined` where its key of the operator is not configured any more, and for a
 * recording from before the salt of its API key was replaced.
 */
export function openRecording(
  masterKeys: readonly MasterKey[],
  { masterId, accountId, requestId, salt, sealed }: SealedRecording,
): RecordingContent | undefined {
  const master = masterKeys.find(({ id }) => id === masterId);
  if (!master || salt === undefined) return undefined;
  const packed = unseal(deriveDataKey(master, { accountId, requestId, salt }), sealed);
  // Safe because only the recording worker has the key with which the content was encrypted.
  return packed && (JSON.parse(gunzipSync(packed).toString()) as RecordingContent);
}
