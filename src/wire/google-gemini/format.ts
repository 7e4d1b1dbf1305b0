import type { WireFormat } from "../format.ts";
import { openaiLimitHeaders } from "../limit-headers.ts";
import { dropForeignSignatures } from "./carried-reasoning.ts";
import { countFormat } from "./count-tokens.ts";
import { findUntranslatable } from "./egress/print-contents.ts";
import { printRequest } from "./egress/print-request.ts";
import { readEvents, readPromptTooLong, readReply } from "./egress/read-answer.ts";
import { printError, printErrorFrame, statusOf } from "./errors.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readStream, readWhole } from "./passthrough/stream.ts";
import { modelPath } from "./path.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { ID_CHARS_MAX } from "./thinking.ts";

/**
 * Gemini's own format, at Google's Gemini API and at Vertex AI. Clients have the model and the kind of answer in the
 * path; their route adds both to the body.
 *
 * @see https://ai.google.dev/api/generate-content
 */
export const googleGemini: WireFormat = {
  surface: "gemini",
  path: "/v1beta",
  hasModelInPath: true,
  upstreamPath: ({ model, stream }) => `/${modelPath(model)}:${methodOf(stream)}`,
  headers: {},
  forwardedHeaders: [],
  count: countFormat,
  parseRequest,
  conversation: {
    member: "contents",
    isOfText: true,
    keeps: (list) => dropForeignSignatures(list) === list,
  },
  printUpstreamRequest,
  readStream,
  readWhole,
  ingress: { printStream: printEvents, printWhole: printReply },
  egress: {
    nameCharsMax: 64,
    idCharsMax: ID_CHARS_MAX,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong,
  limitHeaders: openaiLimitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream: () => false,
  // A comment or a blank line would break the readers of Google's SDKs.
  keepAlive: "data: {}\n\n",
};

/** Returns the method of a call, with the query that makes a stream one of events. */
function methodOf(stream: boolean): string {
  return stream ? "streamGenerateContent?alt=sse" : "generateContent";
}
