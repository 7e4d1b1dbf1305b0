import type { ReplyPart } from "./protocol.ts";

/** What one piece of an answer holds. Reasoning is generated, but not readable. */
export interface Content {
  readonly generated: string;
  readonly isReadable: boolean;
}

export const NO_CONTENT: Content = Object.freeze({ generated: "", isReadable: false });

/** A step that the client sees nothing of and that means nothing. */
export const SILENT: ReplyPart = Object.freeze({
  text: "",
  isOutput: false,
  isReadable: false,
  generated: "",
  usage: undefined,
});
