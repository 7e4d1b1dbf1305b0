import type { UnitKind } from "../domain/units.ts";
import type { Usage } from "../domain/usage.ts";
import type { ResponseFacts } from "./response-facts.ts";
import type { SseEvent } from "./sse.ts";
import type { UpstreamFault } from "./upstream-fault.ts";

/** One step of an answer: the text for the client, and what the gateway meters. */
export interface ReplyPart {
  /** Text for the client; "" if the step is hidden or held back until the end. */
  readonly text: string;
  /**
   * Whether output began: a block start, or a non-empty text, reasoning or tool delta. Headers may be sent.
   */
  readonly isOutput: boolean;
  /** Whether the step has text, a tool call, a refusal or a content-filter finish, not reasoning alone. */
  readonly isReadable: boolean;
  /** All text generated in this step (text, reasoning, arguments), for a local token count. */
  readonly generated: string;
  /** The latest usage of the answer; replaces the usage of earlier parts. */
  readonly usage: Usage | undefined;
  /** The units that the answer counts or reports; replaces those of earlier parts. */
  readonly units?: ReportedUnits | undefined;
  /** Images that came or began, and whose tokens `usage` lacks; replaces those of earlier parts. */
  readonly unreportedImages?: number | undefined;
  /** The content type of a whole answer. Default: JSON. */
  readonly contentType?: string | undefined;
  /** What a whole answer says of itself; absent unless the request is followed. */
  readonly response?: ResponseFacts | undefined;
  /** Why a complete answer cannot be represented in the client's format; `text` is "" then. */
  readonly unrepresentable?: UpstreamFault | undefined;
}

/** Units as an answer reports them, which may be impossible; of images with their size and quality. */
interface ReportedUnits extends UnitKind {
  readonly count: number;
}

/** The parts of some events as one part. */
export interface RepeatedPart extends ReplyPart {
  /** Index after the last of the events. */
  readonly end: number;
}

/**
 * Reads one streamed answer event by event into parts for the client. Holds back the finish and everything
 * after it until {@link ending}, so that the client sees the end only after the settlement. One reader per
 * answer.
 */
export interface ReplyReader {
  /** Reads one SSE event. Throws {@link UpstreamFault} for an error event and for a malformed event. */
  read(event: SseEvent): ReplyPart;
  /**
   * Reads the events of a decoder's text from `start` on that repeat the event before them; `undefined` if none
   * does. They may be read by {@link read} as well.
   */
  readRepeated?(text: string, start: number): RepeatedPart | undefined;
  /** Whether the upstream has sent a finish reason for every choice. */
  readonly finished: boolean;
  /** Whether the upstream has sent its last event; nothing more is read. */
  readonly done: boolean;
  /** Called when the upstream's body ended well before {@link done}, which some formats take for a finish. */
  end?(): void;
  /** Returns the held-back text, finish and end marker included. Must be called after `finished`. */
  ending(): string;
}

/** The generated text of one piece of an answer. Reasoning is generated, but not readable. */
export interface Content {
  readonly generated: string;
  readonly isReadable: boolean;
}

export const NO_CONTENT: Content = Object.freeze({ generated: "", isReadable: false });

/** A step without text for the client and without anything to meter. */
export const SILENT: ReplyPart = Object.freeze({
  text: "",
  isOutput: false,
  isReadable: false,
  generated: "",
  usage: undefined,
});
