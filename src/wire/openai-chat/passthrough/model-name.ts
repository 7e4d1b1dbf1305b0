import { editMembers, findMember } from "../../json/edit.ts";

const LESSONS_MAX = 4;

/**
 * Puts the client's name for the model into every chunk of one stream. Chunks of a stream mostly begin
 * alike up to the model's name, so the renamed beginning is remembered and later chunks are not scanned.
 */
export function createModelRename(modelText: string): (data: string) => string {
  let head: string | undefined;
  let renamedHead = "";
  let lessons = 0;

  const learn = (data: string): void => {
    lessons += 1;
    const name = findMember(data, "model");
    if (name === undefined) return;
    head = data.slice(0, name.end);
    renamedHead = data.slice(0, name.start) + modelText;
  };

  return (data) => {
    if (head !== undefined && data.startsWith(head)) return renamedHead + data.slice(head.length);
    if (lessons < LESSONS_MAX) learn(data);
    return editMembers(data, { model: () => modelText });
  };
}
