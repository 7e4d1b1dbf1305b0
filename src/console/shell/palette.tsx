import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { api, call } from "../api.ts";
import { Icon } from "../parts/icons.tsx";
import { useAccountInView, useNavigation } from "./account-in-view.ts";
import styles from "./palette.module.css";
import { type Hit, hitOf, matchPages } from "./palette-hits.ts";

const QUERY_LENGTH_MIN = 2;

/** Finds pages by name, and keys, models, accounts and any pasted request id by the server. */
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
    void navigate({ to: hit.to, params: hit.params } as never);
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
          aria-label="Page, key, model or request id"
          aria-expanded={hits.length > 0}
          aria-controls={listId}
          aria-activedescendant={chosenId}
          aria-autocomplete="list"
          placeholder="Page, key, model or request id"
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
      <div className={styles.list} id={listId} role="listbox" aria-label="Results">
        {hits.map((hit, place) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus and names the chosen one.
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the input does the same.
          <div
            key={hit.id}
            id={`${listId}-${place}`}
            role="option"
            aria-selected={place === chosen}
            className={styles.item}
            onClick={() => go(hit)}
            onPointerMove={() => setIndex(place)}
          >
            <Icon name={hit.icon} />
            <span className={styles.title}>{hit.title}</span>
            <span className={styles.kind}>{hit.kind}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && (
        <p className={styles.none} role="status">
          {isSearching ? "Searching…" : "Nothing found."}
        </p>
      )}
    </dialog>
  );
}

function useHits(text: string): { readonly hits: readonly Hit[]; readonly isSearching: boolean } {
  const account = useAccountInView()?.id ?? "";
  const groups = useNavigation();
  const asked = useDeferredValue(text.trim());
  const { data, isFetching } = useQuery({
    queryKey: ["find", asked],
    queryFn: () => call(() => api.find.get({ query: { q: asked } })),
    enabled: asked.length >= QUERY_LENGTH_MIN,
    retry: false,
  });
  const pages = matchPages(text, { account, groups });
  const found =
    asked.length >= QUERY_LENGTH_MIN ? (data?.items ?? []).map((each) => hitOf(each, account)) : [];
  return { hits: [...pages, ...found], isSearching: isFetching };
}
