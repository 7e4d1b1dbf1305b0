import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import type { AccountNeed } from "../../http/console/permissions.ts";
import { api, call } from "../api.ts";
import { Icon } from "../parts/icons.tsx";
import { keyNamesQuery, type NamedKey } from "../queries/overview.ts";
import { mayAs, useMe } from "../session.ts";
import { recentPlaces } from "../views.ts";
import { useAccountInView, useNavigation } from "./account-in-view.ts";
import styles from "./palette.module.css";
import { listActions, recentHits, shortenActions } from "./palette-actions.ts";
import { type Hit, hasWords, hitOf, matchPages, rankHits } from "./palette-hits.ts";
import { applyTheme, useSignOut } from "./person-actions.ts";

const QUERY_LENGTH_MIN = 2;

/** Finds pages, actions and recent places by name, and keys, models, accounts and request ids by the server. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const listId = useId();
  const { hits, isSearching } = useHits(text);
  const navigate = useNavigate();
  useEffect(() => dialog.current?.showModal(), []);
  const chosen = Math.min(index, hits.length - 1);
  const chosenId = hits[chosen] ? `${listId}-${chosen}` : undefined;
  useEffect(() => {
    if (chosenId) document.getElementById(chosenId)?.scrollIntoView({ block: "nearest" });
  }, [chosenId]);
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    if (hit.run) hit.run();
    else void navigate({ to: hit.to, params: hit.params, search: hit.search ?? {} } as never);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) {
      event.preventDefault();
      setIndex((chosen + step + hits.length) % hits.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      go(hits[chosen]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label="Search"
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div className={styles.box}>
        <Icon name="search" size={18} />
        <input
          className={styles.input}
          role="combobox"
          aria-label="Page, action, key, model or request id"
          aria-expanded={hits.length > 0}
          aria-controls={listId}
          aria-activedescendant={chosenId}
          aria-autocomplete="list"
          placeholder="Page, action, key, model or request id"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setIndex(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <Lines id={listId} hits={hits} chosen={chosen} onChoose={setIndex} onGo={go} />
      {hits.length === 0 && (
        <p className={styles.none} role="status">
          {isSearching ? "Searching…" : "Nothing found."}
        </p>
      )}
    </dialog>
  );
}

interface LinesProps {
  readonly id: string;
  readonly hits: readonly Hit[];
  /** The place of the line that Enter takes. */
  readonly chosen: number;
  readonly onChoose: (place: number) => void;
  readonly onGo: (hit: Hit) => void;
}

function Lines({ id, hits, chosen, onChoose, onGo }: LinesProps) {
  return (
    <div className={styles.list} id={id} role="listbox" aria-label="Results">
      {hits.map((hit, place) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus and names the chosen one.
        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the input does the same.
        <div
          key={hit.id}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === chosen}
          className={styles.item}
          onClick={() => onGo(hit)}
          onPointerMove={() => onChoose(place)}
        >
          <Icon name={hit.icon} />
          <span className={styles.title}>{hit.title}</span>
          <span className={styles.kind}>{hit.kind}</span>
        </div>
      ))}
    </div>
  );
}

/** Places, actions and pages of the person, then what the server found. */
function useHits(text: string): { readonly hits: readonly Hit[]; readonly isSearching: boolean } {
  const account = useAccountInView()?.id ?? "";
  const groups = useNavigation();
  const actions = useActions();
  const [recent] = useState(() => recentHits(recentPlaces()));
  const asked = useDeferredValue(text.trim());
  const { data, isFetching } = useQuery({
    queryKey: ["find", asked],
    queryFn: () => call(() => api.find.get({ query: { q: asked } })),
    enabled: asked.length >= QUERY_LENGTH_MIN,
    retry: false,
  });
  const matches = ({ title, kind }: Hit) => hasWords(`${title} ${kind}`, text);
  const own = [
    ...recent.filter(matches),
    ...matchPages(text, { account, groups }),
    ...shortenActions(actions.filter(matches), text),
  ];
  const found =
    asked.length >= QUERY_LENGTH_MIN ? (data?.items ?? []).map((each) => hitOf(each, account)) : [];
  return { hits: [...rankHits(own, text), ...found], isSearching: isFetching };
}

const NO_KEYS: readonly NamedKey[] = [];

function useActions(): readonly Hit[] {
  const account = useAccountInView();
  const { accounts, person } = useMe();
  const { mutate: signOut } = useSignOut();
  const may = (need: AccountNeed) => account !== undefined && mayAs(account.role, need);
  // A developer changes the keys that they made, an owner all of them.
  const maySetLimits = may("keys.create");
  const { data } = useQuery({ ...keyNamesQuery(account?.id ?? ""), enabled: maySetLimits });
  const isOwn = ({ created_by }: NamedKey) => may("projects.write") || created_by?.id === person.id;
  const active = data?.items.filter((key) => key.state === "active" && isOwn(key));
  const keys = (maySetLimits && active) || NO_KEYS;
  return listActions({ account, may, accounts, keys, applyTheme, signOut });
}
