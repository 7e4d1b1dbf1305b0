import { framesOf } from "../../http/faults/frames.ts";
import { insist, type Json, listAt, objectAt, textAt } from "../../http/faults/view.ts";

/** Takes a chat stream apart as strictly as the format is described. Throws with what is wrong. Gives its chunks. */
export function readStrictChat(body: string, model: string, wantsUsage: boolean): Json[] {
  const jsons = framesOf(body).map(({ json }) => json);
  insist(jsons.at(-1) === "[DONE]", "a stream without its end marker");
  const chunks = jsons.slice(0, -1).map((json) => objectAt(json, "a chunk"));
  const heads = chunks.map(({ id, object, created, model: name }) => `${id} ${object} ${created} ${name}`);
  insist(new Set(heads).size === 1, "chunks that are not of one answer");
  insist(/^chatcmpl-\w+ chat\.completion\.chunk \d{10} /.test(heads[0] ?? ""), "a head that is none");
  insist(chunks[0]?.model === model, "another model's name");
  checkUsage(chunks, wantsUsage);
  checkChoices(wantsUsage ? chunks.slice(0, -1) : chunks);
  return chunks;
}

/** Usage comes once, on a chunk of its own at the end; the other chunks say that they have none. */
function checkUsage(chunks: readonly Json[], wantsUsage: boolean): void {
  const last = chunks.at(-1);
  if (!wantsUsage) {
    insist(!chunks.some(({ usage }) => usage), "usage that it has not asked for");
    return;
  }
  insist(listAt(last?.choices).length === 0 && Array.isArray(last?.choices), "usage beside a choice");
  insist(last?.usage !== undefined, "no usage");
  insist(
    chunks.slice(0, -1).every(({ usage }) => usage === null),
    "usage twice",
  );
}

function checkChoices(chunks: readonly Json[]): void {
  const choices = chunks.map((chunk) => {
    insist(listAt(chunk.choices).length === 1, "a chunk without one choice");
    return objectAt(listAt(chunk.choices)[0], "a choice");
  });
  let calls = 0;
  choices.forEach((choice, at) => {
    const isLast = at === choices.length - 1;
    const delta = objectAt(choice.delta, "a delta");
    insist(choice.index === 0 && choice.logprobs === null, "a choice of another shape");
    insist(
      isLast ? textAt(choice.finish_reason) !== "" : choice.finish_reason === null,
      "a finish out of place",
    );
    insist((delta.role === "assistant") === (at === 0), "a role out of place");
    for (const call of listAt(delta.tool_calls)) calls = checkCall(objectAt(call, "a call"), calls);
  });
}

/** Returns how many calls have begun. */
function checkCall({ index, id, type, function: given }: Json, begun: number): number {
  const { name, arguments: input } = objectAt(given, "a function");
  insist(typeof input === "string", "arguments that are no text");
  if (index === begun) {
    insist(type === "function" && textAt(id) !== "" && textAt(name) !== "", "a call that is not named");
    return begun + 1;
  }
  insist(Number.isInteger(index) && Number(index) < begun, "a call out of order");
  insist(id === undefined && name === undefined && type === undefined, "a call named twice");
  return begun;
}
