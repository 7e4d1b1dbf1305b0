import type { Surface } from "../domain/model.ts";
import type { ServedTier } from "../domain/tiers.ts";
import type { ToolCalls } from "../domain/tool-fees.ts";
import type { UnitKind } from "../domain/units.ts";
import type { Usage } from "../domain/usage.ts";
import { editElements, sliceMember } from "./json/edit.ts";
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
  /** Bytes of spoken output in this step. Default: 0. */
  readonly audioBytes?: number | undefined;
  /** The latest usage of the answer; replaces the usage of earlier parts. */
  readonly usage: Usage | undefined;
  /** The service tier that the answer reports; replaces that of earlier parts. */
  readonly tier?: ServedTier | undefined;
  /** The units that the answer counts or reports; replaces those of earlier parts. */
  readonly units?: ReportedUnits | undefined;
  /** How often each of the request's tools ran so far; replaces those of earlier parts. */
  readonly calls?: ToolCalls | undefined;
  /** Set where the answer reports a number of calls that cannot be. */
  readonly areCallsRejected?: true | undefined;
  /** Images that came or began, and whose tokens `usage` lacks; replaces those of earlier parts. */
  readonly unreportedImages?: number | undefined;
  /** The content type of a whole answer. Default: JSON. */
  readonly contentType?: string | undefined;
  /** What a whole answer says of itself; absent unless the request is followed. */
  readonly response?: ResponseFacts | undefined;
  /** Why a complete answer cannot be represented in the client's format; `text` is "" then. */
  readonly unrepresentable?: UpstreamFault | undefined;
}

/** What an upstream says of its answer itself, as far as each value is an identifier. */
interface ResponseFacts {
  /** The upstream's id of the answer. */
  readonly responseId?: string | undefined;
  /** The model that answered, by the upstream. */
  readonly responseModel?: string | undefined;
  /** One for each finished choice, in the upstream's words. */
  readonly finishReasons?: readonly string[] | undefined;
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
  /** Bytes of spoken output. Default: 0. */
  readonly audioBytes?: number | undefined;
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

/** Where a format has the facts, by names of members. */
interface Place {
  /** The member of an event that has the answer's other members, where it is there. */
  readonly holder?: string;
  readonly id?: string;
  readonly model?: string;
  /** A list whose elements have `reason`, or an object that has it where it is there. */
  readonly within?: string;
  readonly reason?: string;
  /** The reason of an answer that has no other, once it is one of {@link FINAL}. */
  readonly status?: string;
}

const PLAIN: Place = { id: "id", model: "model" };

/** The formats with finish reasons, or with other names. */
const PLACES: Readonly<Partial<Record<Surface, Place>>> = {
  chat: { ...PLAIN, within: "choices", reason: "finish_reason" },
  messages: { ...PLAIN, holder: "message", within: "delta", reason: "stop_reason" },
  responses: {
    ...PLAIN,
    holder: "response",
    within: "incomplete_details",
    reason: "reason",
    status: "status",
  },
  gemini: { id: "responseId", model: "modelVersion", within: "candidates", reason: "finishReason" },
  converse: { reason: "stopReason" },
};

/** A word, a name or an id, and no prose: an upstream may repeat a prompt in any member. */
const IDENTIFIER = /^"([\w.:/@+=-]{1,256})"$/;
/** The largest number of choices that a request may ask for. */
export const CHOICES_MAX = 128;
const FINAL = ["completed", "incomplete", "failed"];

/** Collects what a whole answer, or the events of a stream, say. What is said first stays. */
export class ResponseReader {
  readonly #place: Place;
  /** By the index of the choice: some hosts repeat a finish. */
  readonly #reasons = new Map<string, string>();
  #id: string | undefined;
  #model: string | undefined;

  constructor(surface: Surface) {
    this.#place = PLACES[surface] ?? PLAIN;
  }

  /** Reads an event or a whole answer. Skips what is no JSON object. */
  read(text: string): void {
    if (!text.startsWith("{")) return;
    const { holder, id, model } = this.#place;
    const held = holder && sliceMember(text, holder);
    const answer = held?.startsWith("{") ? held : text;
    this.#id ??= identifierIn(answer, id);
    this.#model ??= identifierIn(answer, model);
    this.#readReasons(answer);
  }

  facts(): ResponseFacts {
    const finishReasons = this.#reasons.size > 0 ? [...this.#reasons.values()] : undefined;
    return { responseId: this.#id, responseModel: this.#model, finishReasons };
  }

  #readReasons(answer: string): void {
    const { within, reason, status } = this.#place;
    const place = within && sliceMember(answer, within);
    if (place?.startsWith("[")) {
      editElements(place, (element, position) => {
        const isChoice = element.startsWith("{");
        if (isChoice)
          this.#add(sliceMember(element, "index") ?? `${position}`, identifierIn(element, reason));
        return "";
      });
      return;
    }
    const final = identifierIn(answer, status);
    const found = identifierIn(place?.startsWith("{") ? place : answer, reason);
    this.#add("0", found ?? FINAL.find((each) => each === final));
  }

  #add(choice: string, reason: string | undefined): void {
    const isNew = reason !== undefined && !this.#reasons.has(choice) && this.#reasons.size < CHOICES_MAX;
    if (isNew) this.#reasons.set(choice, reason);
  }
}

function identifierIn(object: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : IDENTIFIER.exec(sliceMember(object, name) ?? "")?.[1];
}
