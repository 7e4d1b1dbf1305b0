import type { UpstreamFormat } from "../format.ts";
import { findUntranslatable } from "./egress/print-messages.ts";
import { printRequest } from "./egress/print-request.ts";
import { readEvents, readPromptTooLong, readReply } from "./egress/read-answer.ts";

/**
 * AWS Bedrock's Converse, one format for the models of every vendor. Its event stream arrives here as SSE.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html
 */
export const bedrockConverse: UpstreamFormat = {
  surface: "converse",
  upstreamPath: ({ model, stream }) =>
    `/model/${encodeURIComponent(model)}/${stream ? "converse-stream" : "converse"}`,
  headers: {},
  forwardedHeaders: [],
  egress: {
    nameCharsMax: 64,
    idCharsMax: 64,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong,
};
