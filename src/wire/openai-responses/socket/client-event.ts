import { GatewayError } from "../../../errors.ts";
import { sliceMember } from "../../json/edit.ts";
import { reject } from "../../request-body.ts";

/** What a client sends on a WebSocket of responses. */
export type ClientEvent = CreateEvent | CancelEvent | { readonly kind: "ignored" };

/** Asks for one response. */
export interface CreateEvent {
  readonly kind: "create";
  /** The whole event. */
  readonly text: string;
  /** The queue whose responses follow each other; "" for the default queue. */
  readonly streamId: string;
  readonly previousResponseId: string | undefined;
  /** False for a warm-up, which prepares the conversation and calls no model. */
  readonly generates: boolean;
}

/** Ends the running response of a queue. */
interface CancelEvent {
  readonly kind: "cancel";
  readonly streamId: string;
}

const STREAM_ID = /^[\w.-]{1,256}$/;
const RESPONSE_ID_CHARS_MAX = 256;

/**
 * Reads the members of a client's event that concern the WebSocket. The rest of a `response.create` is checked as the
 * body of a request is. Throws `not_json` for a text that is no object, `wrong_shape` and `wrong_stream_id`.
 *
 * @see https://developers.openai.com/api/docs/guides/websocket-mode
 */
export function readClientEvent(text: string): ClientEvent {
  if (!/^\s*\{/.test(text)) throw new GatewayError("not_json");
  const type = readString(text, "type");
  // Codex reports each response that it has read.
  if (type === "response.processed") return { kind: "ignored" };
  if (type === "response.steer") throw new GatewayError("not_built");
  if (type !== "response.create" && type !== "response.cancel") reject("type");
  const streamId = readStreamId(text);
  if (type === "response.cancel") return { kind: "cancel", streamId };
  const previousResponseId = readString(text, "previous_response_id");
  if (previousResponseId !== undefined && previousResponseId.length > RESPONSE_ID_CHARS_MAX)
    reject("previous_response_id");
  const generate = sliceMember(text, "generate") ?? "true";
  if (generate !== "true" && generate !== "false" && generate !== "null") reject("generate");
  return { kind: "create", text, streamId, previousResponseId, generates: generate !== "false" };
}

/** Returns the queue of an event whose other members may be wrong; `undefined` where it has none. */
export function findStreamId(text: string): string | undefined {
  try {
    return readStreamId(text) || undefined;
  } catch {
    return undefined;
  }
}

function readStreamId(text: string): string {
  const value = sliceMember(text, "stream_id");
  if (value === undefined || value === "null") return "";
  const streamId = parseString(value);
  if (streamId === undefined || !STREAM_ID.test(streamId)) throw new GatewayError("wrong_stream_id");
  return streamId;
}

/** Returns a string; `undefined` when omitted, repeated or null. Throws `wrong_shape` for another value. */
function readString(text: string, field: string): string | undefined {
  const value = sliceMember(text, field);
  if (value === undefined || value === "null") return undefined;
  return parseString(value) ?? reject(field);
}

/** Returns the value of a JSON string; `undefined` for any other JSON. */
export function parseString(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
