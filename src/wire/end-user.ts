import type { JsonObject } from "./json/read.ts";
import { shortHash } from "./short-hash.ts";

/** Providers take a name of this form; Claude Code's is a text of JSON, others' may be an address or a telephone number. */
const OPAQUE = /^(?=.*[a-z])[^\s@]{1,64}$/i;
const HASH_CHARS = 32;

/** The client's name for its own user as any provider takes it: as it is, or hashed. */
export function printEndUser(endUser: string): string {
  return OPAQUE.test(endUser) ? endUser : shortHash(endUser, HASH_CHARS);
}

/** That name in the formats of OpenAI. Only for the provider's own books: what is no text is not missed. */
export function readEndUser({ safety_identifier: identifier, user }: JsonObject): string | undefined {
  const name = identifier ?? user;
  return typeof name === "string" && name !== "" ? name : undefined;
}
