import type { GatewayError } from "../../errors.ts";
import type { SentStream, WireFormat } from "../format.ts";
import { printError } from "./errors.ts";

const EVENT_END = "\n\n";
const DATA = "data: ";

/** Returns the elements of a JSON array for the events of a text, each after `separator` or a comma. */
export function printElements(events: string, isFirst: boolean): string {
  let elements = "";
  for (const event of events.split(EVENT_END)) {
    if (!event.startsWith(DATA)) continue;
    const json = event.slice(DATA.length).replaceAll(`\n${DATA}`, "\n");
    elements += `${isFirst && elements === "" ? "[" : ",\r\n"}${json}`;
  }
  return elements;
}

/**
 * Returns the format of streams that are one JSON array, which clients get that do not ask for events. Its keep-alive
 * is white space.
 *
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function asArrayFormat(wire: WireFormat): WireFormat {
  return {
    ...wire,
    keepAlive: " ",
    printErrorFrame: (error: GatewayError, requestId: string, sent?: SentStream) =>
      `${sent?.last ? ",\r\n" : "["}${printError(error, requestId)}]`,
  };
}
