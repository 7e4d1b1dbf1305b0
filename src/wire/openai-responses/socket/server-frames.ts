import type { GatewayError } from "../../../errors.ts";
import { editElements, sliceMember } from "../../json/edit.ts";
import { printError, statusOf } from "../response.ts";
import { parseString } from "./client-event.ts";
import { encodeItems, type Items } from "./create-body.ts";

const EVENT_FIELD = "event: ";
const DATA_FIELD = "data: ";
const ENDS: readonly string[] = ["response.completed", "response.incomplete"];

/** One event of a stream of responses, without the framing of server-sent events. */
export interface StreamedEvent {
  readonly type: string;
  readonly data: string;
}

/** Splits the text of whole server-sent events, as the format prints them. Comments are dropped. */
export function splitEvents(text: string): readonly StreamedEvent[] {
  const events: StreamedEvent[] = [];
  for (const block of text.split("\n\n")) {
    let type = "";
    let data: string | undefined;
    for (const line of block.split("\n")) {
      if (line.startsWith(EVENT_FIELD)) type = line.slice(EVENT_FIELD.length);
      else if (line.startsWith(DATA_FIELD)) {
        const part = line.slice(DATA_FIELD.length);
        data = data === undefined ? part : `${data}\n${part}`;
      }
    }
    if (data !== undefined) events.push({ type, data });
  }
  return events;
}

/** What a frame has beside the members of its event. */
export interface FrameMembers {
  /** The queue of the response, where its client named one. */
  readonly stream_id?: string | undefined;
  /** What the answer over HTTP would have as headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly status?: number;
  readonly error?: object;
}

/** Prints the frame of an event. Our members are last: most readers take the last of two. */
export function printFrame(data: string, members: FrameMembers): string {
  const added = JSON.stringify(members).slice(1, -1);
  return added === "" ? data : `${data.slice(0, data.lastIndexOf("}"))},${added}}`;
}

/** The parameters that some errors are about. */
const PARAMETERS: Partial<Record<GatewayError["kind"], string>> = {
  unknown_previous_response: "previous_response_id",
  wrong_stream_id: "stream_id",
  too_many_streams: "stream_id",
};

/**
 * Returns what a frame says of an error: the status and the body that it has over HTTP, and its headers twice. SDKs
 * read them in the error, Codex beside it.
 */
export function errorMembers(error: GatewayError, { stream_id, headers }: FrameMembers): FrameMembers {
  // The cast is safe because `printError` prints this object.
  const printed = JSON.parse(printError(error)) as { error: object };
  const param = PARAMETERS[error.kind] ?? null;
  return { status: statusOf(error), error: { ...printed.error, param, headers }, stream_id, headers };
}

/** Prints the event of an error before the first event of its response. */
export function printErrorEvent(error: GatewayError, members: FrameMembers): string {
  return printFrame('{"type":"error"}', errorMembers(error, members));
}

/** A response that a later one may continue. */
export interface EndedResponse {
  readonly id: string;
  readonly output: Items;
}

/** Collects the output of a response from its events. */
export class OutputCollector {
  readonly #items: string[] = [];

  /** Reads one event; returns the response at its end. */
  read({ type, data }: StreamedEvent): EndedResponse | undefined {
    if (type === "response.output_item.done") {
      const item = sliceMember(data, "item");
      if (item !== undefined) this.#items.push(item);
    }
    return ENDS.includes(type) ? this.#end(data) : undefined;
  }

  #end(data: string): EndedResponse | undefined {
    const response = sliceMember(data, "response") ?? "{}";
    const id = parseString(sliceMember(response, "id") ?? "");
    const whole = elementsOf(sliceMember(response, "output"));
    // Some hosts send the output in its items only, others in the last event only.
    return id ? { id, output: encodeItems(whole.length > 0 ? whole : this.#items) } : undefined;
  }
}

function elementsOf(list: string | undefined): readonly string[] {
  const elements: string[] = [];
  if (list?.startsWith("[")) {
    editElements(list, (element) => {
      elements.push(element);
      return element;
    });
  }
  return elements;
}
