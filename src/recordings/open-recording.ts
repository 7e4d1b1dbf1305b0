import { gunzipSync } from "node:zlib";
import type { RecordingContent } from "./recording.ts";
import { deriveDataKey, type MasterKey, unseal } from "./sealing.ts";
import type { StoredRecording } from "./store.ts";

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
