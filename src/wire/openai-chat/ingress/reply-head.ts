import type { ReplyHead } from "../../codecs.ts";

/** What every chunk and every whole answer begins with. The model has the name that the client asked for. */
export function printHead({ id, createdAtS, request }: ReplyHead, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAtS, model: request.model };
}
