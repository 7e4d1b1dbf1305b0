import { HELLO } from "../support/model-output.ts";
import type { Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";

/** Answers as slowly as a small model: a stream takes about half a second, a whole answer 150 ms. */
export const slowAnswer: Script = (request) =>
  answerWith(HELLO, request.stream ? { pieces: [250], pauseMs: 100 } : { delayMs: 150 })(request);
