import { shortHash } from "./short-hash.ts";

/** Providers take a name of this form; Claude Code's is a text of JSON, others' may be an address or a telephone number. */
const OPAQUE = /^(?=.*[a-z])[^\s@]{1,64}$/i;
const HASH_CHARS = 32;

/** The client's name for its own user as any provider takes it: as it is, or hashed. */
export function printEndUser(endUser: string): string {
  return OPAQUE.test(endUser) ? endUser : shortHash(endUser, HASH_CHARS);
}
