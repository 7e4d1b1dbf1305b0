import { expect } from "bun:test";
import type { Answer } from "./script.ts";

/** Unique strings to plant in upstream answers, and the check that none of them leaks. */
export interface Canaries {
  /** Returns a new string that contains `place`. Valid in a header, a host name and JSON. */
  next(place: string): string;
  /** An error answer with a canary in its message, type, code, request id and headers. */
  refusal(status: number): Answer;
  /** Fails when any canary of this set occurs in the bytes, in any case, as text, base64 or hex. */
  expectNone(bytes: string | Uint8Array): void;
}

/** Creates a fresh set. All its strings share one random mark, which `expectNone` looks for. */
export function createCanaries(): Canaries {
  const mark = `cnry${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex")}`;
  const next = (place: string) => `${mark}-${place}`;
  // Encodes 15 bytes, a multiple of three: the text behind the mark would change an incomplete last group.
  const base64 = Buffer.from(mark.slice(0, 15)).toString("base64");
  const marks = [mark, base64, Buffer.from(mark).toString("hex")];
  return {
    next,
    refusal: (status) => ({ status, headers: headersOf(next), body: JSON.stringify(bodyOf(next)) }),
    expectNone(bytes) {
      const text = Buffer.from(bytes).toString("latin1").toLowerCase();
      for (const each of marks) expect(text).not.toContain(each.toLowerCase());
    },
  };
}

function headersOf(next: (place: string) => string): Record<string, string> {
  return {
    "x-request-id": next("x-request-id"),
    "request-id": next("request-id"),
    "openai-organization": next("organization"),
    "anthropic-organization-id": next("organization-id"),
    "retry-after": "3600",
    "x-ratelimit-remaining-requests": next("ratelimit"),
    "anthropic-ratelimit-unified-status": next("unified"),
    "set-cookie": `session=${next("cookie")}`,
    server: next("server"),
    via: `1.1 ${next("via")}`,
    "www-authenticate": `Bearer realm="${next("realm")}"`,
    "x-should-retry": "true",
  };
}

function bodyOf(next: (place: string) => string): object {
  return {
    type: "error",
    error: {
      type: next("type"),
      code: next("code"),
      param: next("param"),
      message: `Account ${next("message")} on 10.1.2.3 failed`,
      metadata: { host: next("host") },
    },
    request_id: next("body-request-id"),
    detail: next("detail"),
  };
}
