import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { Source } from "../../codecs.ts";
import { ANSWER_MAX, isJsonObject, parseJsonObject, readArray } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { callIdPrefixOf, readIndex, requireChoice } from "../chunk.ts";
import { finishEvent, readFinishReason } from "../finish-reason.ts";
import { readUsageEvents } from "../usage.ts";
import { createCallReader } from "./read-calls.ts";
import { createDeltaReader } from "./read-deltas.ts";

/**
 * Reads a whole chat answer of one choice into events. Throws {@link UpstreamFault} for anything else.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function readReply(text: string, source?: Source): readonly ChatEvent[] {
  const body = parseJsonObject(text, ANSWER_MAX);
  const [first, ...others] = readArray(body?.choices);
  if (body === undefined || body.error || others.length > 0)
    throw new UpstreamFault("The answer has several choices or reports an error");

  const choice = requireChoice(first);
  const { message } = choice;
  if (!isJsonObject(message)) throw new UpstreamFault("A choice has no message");
  const calls = createCallReader(source);
  const output = [
    ...createDeltaReader(source).read(message, true),
    ...calls.readMessage(message, callIdPrefixOf(body, readIndex(choice, 1))),
  ];
  const reason = readFinishReason(choice.finish_reason, calls.hasCalls());
  if (reason === undefined) throw new UpstreamFault("The answer has no finish");
  calls.close(reason);
  return [...output, finishEvent(reason), ...readUsageEvents(body.usage)];
}
