/** The view of each list that a person chose last, by the path of its page. Kept by the browser until the sign-out. */
const KEY = "tollgate-views";
const VIEWS_MAX = 60;
/** What is part of a remembered view: order and filters, but no text, range or page of rows, which are of a moment. */
const KEPT = [
  "sort",
  "state",
  "key",
  "model",
  "upstream",
  "outcome",
  "surface",
  "scope",
  "code",
  "kind",
  "group",
  "tag",
  "by",
  "actor",
  "action",
  "credits",
];

type View = Readonly<Record<string, string>>;

/** The page that is shown. */
let shown: string | undefined;

interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** Returns the remembered view of a page that is entered without one; `undefined` for the usual view. */
export function recallView({ pathname, search }: Place): View | undefined {
  return pathname === shown || Object.keys(search).length > 0 ? undefined : readViews()[pathname];
}

/** Must be called for each place that was reached. Remembers the view of a page that a person changes on it. */
export function noteView({ pathname, search }: Place): void {
  if (pathname === shown) rememberView(pathname, { ...search });
  shown = pathname;
}

/** The usual view needs no place. */
function rememberView(path: string, search: Readonly<Record<string, unknown>>): void {
  const kept = KEPT.flatMap((name) => (typeof search[name] === "string" ? [[name, search[name]]] : []));
  const { [path]: _, ...others } = readViews();
  const views = kept.length > 0 ? { ...others, [path]: Object.fromEntries(kept) } : others;
  localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(views).slice(-VIEWS_MAX))));
}

/** A place that was looked at. */
export interface RecentPlace {
  readonly path: string;
  readonly title: string;
}

const RECENT_KEY = "tollgate-recent";
const RECENT_MAX = 9;

/** What a place has beside its view; nothing that opens a dialog. */
const OF_PLACE = [...KEPT, "q", "range", "from", "to"];

/** Remembers the page of a title as the newest place of this tab; its path has the search of its view. */
export function notePlace(title: string): void {
  const search = [...new URLSearchParams(location.search)].filter(([name]) => OF_PLACE.includes(name));
  const text = new URLSearchParams(search).toString();
  const path = location.pathname.replace(/^\/console/, "") + (text && `?${text}`);
  const others = recentPlaces().filter((place) => place.path.split("?")[0] !== path.split("?")[0]);
  sessionStorage.setItem(RECENT_KEY, JSON.stringify([{ path, title }, ...others].slice(0, RECENT_MAX)));
}

/** The places that this tab has shown, the newest first: the page that is open. */
export function recentPlaces(): readonly RecentPlace[] {
  try {
    // Safe because only this file writes it; another text at its place is caught.
    return JSON.parse(sessionStorage.getItem(RECENT_KEY) ?? "[]") as RecentPlace[];
  } catch {
    return [];
  }
}

/** Forgets views and places, so that the next person at this browser begins with the usual ones. */
export function forgetViews(): void {
  localStorage.removeItem(KEY);
  sessionStorage.removeItem(RECENT_KEY);
}

function readViews(): Readonly<Record<string, View>> {
  try {
    // Safe because only this file writes it; another text at its place is caught or has no path.
    return (JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {}) as Record<string, View>;
  } catch {
    return {};
  }
}
