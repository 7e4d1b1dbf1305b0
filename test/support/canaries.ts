import { expect } from "bun:test";
import type { Answer } from "./script.ts";

/** Unique strings to hide wherever an upstream can say something, and the check that none came out. */
export interface Canaries {
  /** A new string that names where it was put; fit for a header, a host name and JSON. */
  next(place: string): string;
  /** A refusal full of canaries: error message, type, code, request id and headers. */
  refusal(status: number): Answer;
  /** Fails when one of these canaries is anywhere in the bytes, whatever its case or encoding. */
  expectNone(bytes: string | Uint8Array): void;
}

/** A fresh set. All of its strings share one random mark, which is what `expectNone` looks for. */
export function createCanaries(): Canaries {
  const mark = `cnry${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex")}`;
  const next = (place: string) => `${mark}-${place}`;
  // Whole groups of three bytes only: what follows the mark changes the last group.
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
