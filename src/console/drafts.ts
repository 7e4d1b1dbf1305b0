// What is typed into the playground stays in this browser until it is sent, or its person signs out.

/** What a draft holds; images are not kept, because they are large. */
export interface Draft {
  readonly prompt?: string;
  readonly system?: string;
  readonly tools?: string;
  readonly max_tokens?: string;
  readonly temperature?: string;
}

const KEY = "tollgate-drafts";
/** A longer draft is not kept: a browser has 5 MB for all of the console. */
const CHARS_MAX = 64 * 1024;
/** Accounts whose drafts a browser keeps; the oldest draft is removed for another one. */
const DRAFTS_MAX = 10;

interface Owner {
  readonly person: string;
  readonly account: string;
}

/** By person and account, the newest last. */
type Drafts = Readonly<Record<string, Draft>>;

export function readDraft(owner: Owner): Draft {
  return readDrafts()[nameOf(owner)] ?? {};
}

/** Keeps a draft, or none when it is empty or too long. A full or forbidden storage keeps none. */
export function keepDraft(owner: Owner, draft: Draft): void {
  const { [nameOf(owner)]: _, ...others } = readDrafts();
  const isKept = Object.keys(draft).length > 0 && JSON.stringify(draft).length <= CHARS_MAX;
  const drafts = isKept ? { ...others, [nameOf(owner)]: draft } : others;
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(drafts).slice(-DRAFTS_MAX))));
  } catch {
    // Nothing is lost but the draft.
  }
}

/** Must be called at the sign-out. */
export function forgetDrafts(): void {
  localStorage.removeItem(KEY);
}

function readDrafts(): Drafts {
  try {
    // Safe because only this file writes it; another text at its place is caught.
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Drafts;
  } catch {
    return {};
  }
}

function nameOf({ person, account }: Owner): string {
  return `${person} ${account}`;
}
