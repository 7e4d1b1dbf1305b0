import type { Surface } from "../domain/model.ts";
import { editElements, sliceMember } from "./json/edit.ts";

/** What an upstream says of its answer itself, as far as each value is an identifier. */
export interface ResponseFacts {
  /** The upstream's id of the answer. */
  readonly responseId?: string | undefined;
  /** The model that answered, by the upstream. */
  readonly responseModel?: string | undefined;
  /** One for each finished choice, in the upstream's words. */
  readonly finishReasons?: readonly string[] | undefined;
}

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
/** As many choices as a request may ask for. */
const REASONS_MAX = 128;
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
    const isNew = reason !== undefined && !this.#reasons.has(choice) && this.#reasons.size < REASONS_MAX;
    if (isNew) this.#reasons.set(choice, reason);
  }
}

function identifierIn(object: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : IDENTIFIER.exec(sliceMember(object, name) ?? "")?.[1];
}
