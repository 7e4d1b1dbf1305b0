import { editElements, findMember } from "../../json/edit.ts";

/**
 * The inputs of a whole message's blocks as they stand in its text, one for each block: a parser would take
 * digits from long numbers. `undefined` for a block without one. The text is valid JSON.
 */
export function readRawInputs(text: string): readonly (string | undefined)[] {
  const inputs: (string | undefined)[] = [];
  editElements(sliceMember(text, "content") ?? "[]", (element) => {
    if (element.startsWith("{")) inputs.push(sliceMember(element, "input"));
    return "";
  });
  return inputs;
}

function sliceMember(text: string, key: string): string | undefined {
  const place = findMember(text, key);
  return place && text.slice(place.start, place.end);
}
