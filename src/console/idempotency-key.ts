import { useRef } from "react";

const BYTES = 16;

/** Returns the same key for the same body, so that a repeated creation makes one thing. */
export function useIdempotencyKey(): (body: unknown) => { readonly "idempotency-key": string } {
  const last = useRef({ text: "", key: "" });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: newKey() };
    return { "idempotency-key": last.current.key };
  };
}

/** 128 random bits in hex. `randomUUID` is missing on pages without https. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
