import type { ServedTier } from "../../../domain/tiers.ts";
import { ANSWER_MAX, EVENT_MAX, isJsonObject, type JsonObject, parseJsonObject } from "../../json/read.ts";
import type { RequestHead } from "../../model-request.ts";
import { type ReplyPart, type ReplyReader, SILENT } from "../../reply-part.ts";
import { printSse, type SseEvent } from "../../sse.ts";
import { readGeminiServed, withServed } from "../../tiers.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { readUsageEvent } from "../usage.ts";
import { callsOf, readResponse, renameModel } from "./response.ts";

/**
 * Reads a streamed answer. Responses pass through except the model's name. Holds back the response that finishes the
 * last candidate. The stream has no end mark: it ends with its connection.
 *
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function readStream(request: RequestHead): ReplyReader {
  return new StreamReader(request);
}

/** A class, because closures for each stream cost more memory. */
class StreamReader implements ReplyReader {
  readonly done = false;
  readonly #request: RequestHead;
  /** Whether each candidate that has begun is finished, by its index. */
  readonly #candidates = new Map<number, boolean>();
  #isBlocked = false;
  #tier: ServedTier | undefined;
  #isEnded = false;
  #held = "";
  /** A response without output after the finish, such as one with the usage alone. */
  #last = "";

  constructor(request: RequestHead) {
    this.#request = request;
  }

  get finished(): boolean {
    if (this.#isBlocked) return true;
    const { size } = this.#candidates;
    const haveAllBegun = size === this.#request.choices || (this.#isEnded && size > 0);
    return haveAllBegun && [...this.#candidates.values()].every(Boolean);
  }

  /** Some candidates that were requested may never come. */
  end(): void {
    this.#isEnded = true;
  }

  read({ data }: SseEvent): ReplyPart {
    const response = parseJsonObject(data, EVENT_MAX);
    if (response) return this.#readResponse(response, data);
    // Invalid JSON after the finish does not invalidate a complete answer.
    if (this.finished) return SILENT;
    throw new UpstreamFault("A chunk is not JSON");
  }

  ending(): string {
    if (!this.finished) throw new Error("There is no ending before the finish");
    return this.#held + this.#last;
  }

  /** Returns the tier that a response reports, unless an earlier one has reported it. */
  #readTier(usageMetadata: unknown): Pick<ReplyPart, "tier"> {
    const tier = readGeminiServed(objectOf(usageMetadata));
    if (tier === undefined || tier === this.#tier) return {};
    this.#tier = tier;
    const { tier: served } = withServed(SILENT, tier, this.#request);
    return served ? { tier: served } : {};
  }

  #readResponse(response: JsonObject, data: string): ReplyPart {
    const wasFinished = this.finished;
    const { candidates, isBlocked } = readResponse(response, data, this.#request.choices);
    const usage = readUsageEvent(response.usageMetadata)?.usage;
    const tier = this.#readTier(response.usageMetadata);
    const text = printSse({ data: renameModel(data, this.#request.model) });
    // The finish is sent last, so output after it would reach the client in the wrong order.
    if (wasFinished) {
      if (candidates.length === 0) this.#last = text;
      return { ...SILENT, usage, ...tier, ...callsOf(candidates) };
    }
    for (const { index, isFinished } of candidates)
      this.#candidates.set(index, isFinished || this.#candidates.get(index) === true);
    this.#isBlocked ||= isBlocked;
    const generated = candidates.map((candidate) => candidate.generated).join("");
    const isReadable = isBlocked || candidates.some((candidate) => candidate.isReadable);
    const part = {
      generated,
      isReadable,
      isOutput: isReadable || generated !== "",
      usage,
      ...tier,
      ...callsOf(candidates),
    };
    if (!this.finished) return { ...part, text };
    this.#held = text;
    return { ...part, text: "" };
  }
}

/** Reads a whole answer. Throws {@link UpstreamFault} for anything but a complete one. */
export function readWhole(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined) throw new UpstreamFault("The answer is not JSON");
  const { candidates, isBlocked } = readResponse(body, text, request.choices);
  const isFinished = candidates.length > 0 && candidates.every((candidate) => candidate.isFinished);
  if (!isFinished && !isBlocked) throw new UpstreamFault("The answer has no finish");
  const part = {
    text: renameModel(text, request.model),
    isOutput: true,
    isReadable: isBlocked || candidates.some((candidate) => candidate.isReadable),
    generated: candidates.map((candidate) => candidate.generated).join(""),
    usage: readUsageEvent(body.usageMetadata)?.usage,
    ...callsOf(candidates),
  };
  return withServed(part, readGeminiServed(objectOf(body.usageMetadata)), request);
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
