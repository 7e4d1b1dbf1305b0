// What is typed into the playground stays in this browser until it is sent: for each person and account.

/** What a draft holds; images are not kept, because they are large. */
export interface Draft {
  readonly prompt?: string;
  readonly system?: string;
  readonly tools?: string;
  readonly max_tokens?: string;
  readonly temperature?: string;
}

const PREFIX = "tollgate-draft:";
/** A longer draft is not kept: a browser has 5 MB for all of the console. */
const CHARS_MAX = 64 * 1024;
/** Accounts with a draft, of which the oldest go first. */
const DRAFTS_MAX = 10;

interface Owner {
  readonly person: string;
  readonly account: string;
}

export function readDraft(owner: Owner): Draft {
  try {
    const text = localStorage.getItem(nameOf(owner)) ?? "{}";
    const { draft } = JSON.parse(text) as { readonly draft?: Draft };
    return draft ?? {};
  } catch {
    return {};
  }
}

/** Keeps a draft. A full or forbidden storage keeps none. */
export function keepDraft(owner: Owner, draft: Draft): void {
  const text = JSON.stringify({ at: Date.now(), draft });
  try {
    if (text.length > CHARS_MAX) localStorage.removeItem(nameOf(owner));
    else localStorage.setItem(nameOf(owner), text);
    dropOldest();
  } catch {
    // Nothing is lost but the draft.
  }
}

function dropOldest(): void {
  const kept = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
  if (kept.length <= DRAFTS_MAX) return;
  const byAge = kept.map((name) => ({
    name,
    at: Number(/^\{"at":(\d+)/.exec(localStorage.getItem(name) ?? "")?.[1] ?? 0),
  }));
  byAge.sort((one, other) => one.at - other.at);
  for (const { name } of byAge.slice(0, kept.length - DRAFTS_MAX)) localStorage.removeItem(name);
}

function nameOf({ person, account }: Owner): string {
  return `${PREFIX}${person}:${account}`;
}
