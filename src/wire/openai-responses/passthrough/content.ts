import { isJsonObject, type JsonObject, readArray, readText } from "../../json/read.ts";
import { type Content, NO_CONTENT } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/** What one event of a streamed answer holds. */
interface Step extends Content {
  /** Whether an item of the output begins with it. */
  readonly isStart: boolean;
}

const ITEMS_MAX = 10_000;
const NO_STEP: Step = Object.freeze({ ...NO_CONTENT, isStart: false });

/** Follows what a streamed answer generates; an item that came without deltas is read when it is done. */
export function createOutputReader() {
  /** Places of items that came in deltas. */
  const told = new Set<unknown>();
  let hasItems = false;

  const readDelta = (type: string, event: JsonObject): Step => {
    const delta = readText(event.delta);
    if (delta === "") return NO_STEP;
    told.add(event.output_index);
    if (told.size > ITEMS_MAX) throw new UpstreamFault("There are too many items");
    const isReadable = !type.startsWith("response.reasoning");
    // Sound is no text: its words come as a transcript.
    return { generated: type.endsWith("audio.delta") ? "" : delta, isReadable, isStart: false };
  };

  const readDone = (event: JsonObject, item: JsonObject): Step => {
    const whole = readItem(item);
    const generated = told.delete(event.output_index) ? nameOf(item) : whole.generated;
    return { generated, isReadable: whole.isReadable, isStart: false };
  };

  return {
    /** Whether any item has been seen. */
    hasItems: () => hasItems,

    read(type: string, event: JsonObject): Step {
      if (type.endsWith(".delta")) return readDelta(type, event);
      const isStart = type === "response.output_item.added";
      if ((!isStart && type !== "response.output_item.done") || !isJsonObject(event.item)) return NO_STEP;
      hasItems = true;
      return isStart
        ? { generated: "", isReadable: isCall(event.item), isStart: true }
        : readDone(event, event.item);
    },
  };
}

/** Reads a whole output. */
export function readOutput(output: unknown): Content {
  const items = readArray(output).filter(isJsonObject).map(readItem);
  return {
    generated: items.map((item) => item.generated).join(""),
    isReadable: items.some((item) => item.isReadable),
  };
}

function readItem(item: JsonObject): Content {
  if (item.type === "reasoning") {
    return { generated: readParts(item.content) || readParts(item.summary), isReadable: false };
  }
  if (item.type === "message") {
    const said = readParts(item.content);
    return { generated: said, isReadable: said !== "" };
  }
  return { generated: nameOf(item) + readText(item.arguments) + readText(item.input), isReadable: true };
}

function readParts(parts: unknown): string {
  return readArray(parts)
    .map((part) => (isJsonObject(part) ? readText(part.text) + readText(part.refusal) : ""))
    .join("");
}

/** Everything but words and reasoning is a call of some tool. */
function isCall({ type }: JsonObject): boolean {
  return type !== "message" && type !== "reasoning";
}

function nameOf(item: JsonObject): string {
  return isCall(item) ? readText(item.name) : "";
}
