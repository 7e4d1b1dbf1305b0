import type { ReplyHead } from "../ends.ts";

/** What Anthropic's clients take and give back. */
const ID = /^[\w-]{1,256}$/;

/** Gives each tool call of an answer the id that its upstream gave, or one of ours where that is unusable or used. */
export function createCallIds({ id: answerId }: ReplyHead): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    const own = ID.test(id) && !used.has(id) ? id : `toolu_${answerId}${used.size}`;
    used.add(own);
    return own;
  };
}
