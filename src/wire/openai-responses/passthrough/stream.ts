import { EVENT_MAX, isJsonObject, type JsonObject, parseJsonObject, readText } from "../../json/read.ts";
import { editMembers } from "../../json/text.ts";
import {
  type ReplyPart,
  type ReplyReader,
  type RequestFacts,
  type SseEvent,
  UpstreamFault,
} from "../../protocol.ts";
import { NO_CONTENT, SILENT } from "../../reply-part.ts";
import { printSse } from "../../sse.ts";
import { isFiltered, requireFinished } from "../finish-reason.ts";
import { readPromptTooLong } from "../too-long.ts";
import { readUsage } from "../usage.ts";
import { createOutputReader, readOutput } from "./content.ts";

const EVENT_NAME = /^[\w.]{1,64}$/;
const FINISHES: readonly string[] = ["response.completed", "response.incomplete"];
const FAILURES: readonly string[] = ["error", "response.failed"];

/**
 * Reads a streamed response. Events pass byte for byte but for the model's name inside response objects; each
 * gets the event name that clients insist on. Keeps back the last.
 */
export function readStream(request: RequestFacts): ReplyReader {
  const output = createOutputReader();
  const modelText = JSON.stringify(request.model);
  let ending: string | undefined;

  const frame = (event: JsonObject, type: string, data: string): string => {
    if (!isJsonObject(event.response)) return printSse({ event: type, data });
    const response = (text = "{}") => editMembers(text, { model: () => modelText });
    return printSse({ event: type, data: editMembers(data, { response }) });
  };

  const finish = (event: JsonObject, type: string, data: string): ReplyPart => {
    const { response } = event;
    if (!isJsonObject(response)) throw new UpstreamFault("A finish has no response");
    requireFinished(response);
    // Some hosts say it all at the end.
    const said = output.hasItems() ? NO_CONTENT : readOutput(response.output);
    const isReadable = said.isReadable || isFiltered(response);
    const isOutput = isReadable || said.generated !== "";
    ending = frame(event, type, data);
    return { ...said, text: "", isOutput, isReadable, usage: readUsage(response.usage) };
  };

  const readEvent = (event: JsonObject, data: string): ReplyPart => {
    const type = readText(event.type);
    if (!EVENT_NAME.test(type)) throw new UpstreamFault("An event has no type");
    if (FAILURES.includes(type)) throw faultOf(event);
    if (FINISHES.includes(type)) return finish(event, type, data);
    const { generated, isReadable, isStart } = output.read(type, event);
    const isOutput = isStart || isReadable || generated !== "";
    return { text: frame(event, type, data), isOutput, isReadable, generated, usage: undefined };
  };

  return {
    get finished() {
      return ending !== undefined;
    },
    get done() {
      return ending !== undefined;
    },
    read(event) {
      return ending === undefined ? readEvent(parseEvent(event), event.data) : SILENT;
    },
    ending() {
      if (ending === undefined) throw new Error("There is no ending before the finish");
      return ending;
    },
  };
}

function parseEvent({ event, data }: SseEvent): JsonObject {
  const parsed = parseJsonObject(data, EVENT_MAX);
  if (parsed === undefined) throw new UpstreamFault("An event is not JSON");
  if (event === "error" || parsed.error) throw faultOf(parsed);
  return parsed;
}

/** A failure may stand in the response, in the event or be the event. */
function faultOf(event: JsonObject): UpstreamFault {
  const { response } = event;
  const said = (isJsonObject(response) ? response.error : event.error) ?? event;
  const words = isJsonObject(said) ? `${readText(said.code)} ${readText(said.message)}` : "";
  return new UpstreamFault("The upstream reported an error", readPromptTooLong(words));
}
