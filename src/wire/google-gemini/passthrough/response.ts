import type { ToolCalls } from "../../../domain/tool-fees.ts";
import { editMembers, sliceMember } from "../../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { joinPromptText } from "../../prompt-size.ts";
import { type Content, NO_CONTENT, type ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { readPromptTooLong } from "../egress/read-answer.ts";
import { readFinish } from "../finish-reason.ts";
import { readGrounding } from "../tools.ts";

/** One candidate in one response. */
interface Candidate extends Content {
  readonly index: number;
  readonly isFinished: boolean;
  /** Set where it was grounded by a search. */
  readonly calls: ToolCalls | undefined;
}

/** What the gateway reads of one response: a whole answer, or a chunk of a stream. */
interface Response {
  readonly candidates: readonly Candidate[];
  /** Whether a filter blocked the prompt, so that there are no candidates. */
  readonly isBlocked: boolean;
}

/** Reads a response. Throws {@link UpstreamFault} for an error and for candidates that were not requested. */
export function readResponse(response: JsonObject, text: string, choices: number): Response {
  if (isSet(response.error)) {
    throw new UpstreamFault("The upstream reported an error", readPromptTooLong(text));
  }
  const list = readArray(response.candidates);
  if (list.length > choices) throw new UpstreamFault("There are too many candidates");
  const { promptFeedback: feedback } = response;
  return {
    candidates: list.map((candidate) => readCandidate(candidate, choices)),
    isBlocked: list.length === 0 && isJsonObject(feedback) && isSet(feedback.blockReason),
  };
}

function readCandidate(candidate: unknown, choices: number): Candidate {
  if (!isJsonObject(candidate)) throw new UpstreamFault("A candidate is not an object");
  const { index = 0, content, finishReason } = candidate;
  const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0 && index < choices;
  if (!isIndex) throw new UpstreamFault("A candidate has an index that was not requested");
  const parts = isJsonObject(content) ? readArray(content.parts).map(readPart) : [];
  const finish = readFinish(finishReason);
  const isFiltered = finish?.reason === "content_filter";
  return {
    index,
    isFinished: finish !== undefined,
    calls: readGrounding(candidate.groundingMetadata),
    generated: parts.map(({ generated }) => generated).join(""),
    isReadable: isFiltered || parts.some(({ isReadable }) => isReadable),
  };
}

/** The calls of a response: one where any candidate was grounded. */
export function callsOf(candidates: readonly Candidate[]): Pick<ReplyPart, "calls"> {
  const calls = candidates.find((candidate) => candidate.calls)?.calls;
  return calls ? { calls } : {};
}

/** Reads a part. Thoughts are generated, but not readable. */
function readPart(part: unknown): Content {
  if (!isJsonObject(part)) return NO_CONTENT;
  const { text, thought, functionCall: call, executableCode: code } = part;
  if (typeof text === "string") return { generated: text, isReadable: thought !== true && text !== "" };
  if (isJsonObject(call)) {
    const args = isJsonObject(call.args) ? joinPromptText([call.args]) : "";
    return { generated: readText(call.name) + args, isReadable: true };
  }
  if (isJsonObject(code)) return { generated: readText(code.code), isReadable: true };
  return { generated: "", isReadable: Object.keys(part).some((key) => key !== "thoughtSignature") };
}

/** Replaces the name of the model in a response that has one. */
export function renameModel(text: string, model: string): string {
  return sliceMember(text, "modelVersion") === undefined
    ? text
    : editMembers(text, { modelVersion: () => JSON.stringify(model) });
}
