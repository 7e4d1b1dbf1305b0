import { readMasterKey } from "../db/sealing.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import type { ConfigFile } from "./schema.ts";

const ACCOUNT_BYTES = 64 * 1024 * 1024;
const TOTAL_BYTES = 1024 * 1024 * 1024;
/** More than any rotation needs. */
const KEYS_MAX = 10;

/** Reads how many bytes of recordings the database keeps. */
export function readRecordingBounds({ recordings }: ConfigFile) {
  return {
    accountBytes: recordings?.account_bytes ?? ACCOUNT_BYTES,
    totalBytes: recordings?.total_bytes ?? TOTAL_BYTES,
  };
}

/** Reads `RECORDING_KEYS` or `SEALING_KEYS`: a key on each line, the first one encrypts. No problem quotes a key. */
export function readMasterKeys(
  name: "RECORDING_KEYS" | "SEALING_KEYS",
  environment: Environment,
  problems: Problems,
): readonly string[] {
  const lines = (environment[name] ?? "").split(/[\n,]/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "");
  if (keys.length > KEYS_MAX || !keys.every((key) => readMasterKey(key))) {
    const expected =
      "32 bytes in base64, as `openssl rand -base64 32` prints them; one to 10 keys, one a line";
    problems.add([name], "is not a list of keys", expected);
  }
  return keys;
}
