import type { UpstreamFormat } from "../format.ts";
import { findUntranslatable } from "./egress/print-contents.ts";
import { printRequest } from "./egress/print-request.ts";
import { readEvents, readPromptTooLong, readReply } from "./egress/read-answer.ts";
import { ID_CHARS_MAX } from "./thinking.ts";

/**
 * Gemini's own format, at Google's Gemini API and at Vertex AI. Only upstreams speak it.
 *
 * @see https://ai.google.dev/api/generate-content
 */
export const googleGemini: UpstreamFormat = {
  surface: "gemini",
  upstreamPath: ({ model, stream }) => `/${modelPath(model)}:${methodOf(stream)}`,
  headers: {},
  forwardedHeaders: [],
  egress: {
    nameCharsMax: 64,
    idCharsMax: ID_CHARS_MAX,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong,
};

/** Returns the method of a call, with the query that makes a stream one of events. */
function methodOf(stream: boolean): string {
  return stream ? "streamGenerateContent?alt=sse" : "generateContent";
}

/** A name with a slash is a resource of its own, such as "tunedModels/mine". */
function modelPath(model: string): string {
  const name = model.includes("/") ? model : `models/${model}`;
  return name.split("/").map(encodeURIComponent).join("/");
}
