import { Select as Base } from "@base-ui/react/select";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { keyNamesQuery } from "../queries/overview.ts";
import { withSearch } from "../search.ts";
import { Icon } from "./icons.tsx";
import styles from "./popup.module.css";
import stack from "./stack.module.css";

interface SelectProps<Value extends string> {
  /** What is chosen: "Model". Shown before the value. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly onChange: (value: Value) => void;
}

/** A choice in a row of filters. */
export function Select<Value extends string>({ label, value, options, onChange }: SelectProps<Value>) {
  const items = options.map((option) => ({ value: option.value, label: option.text }));
  return (
    <Base.Root items={items} value={value} onValueChange={(next) => next !== null && onChange(next)}>
      <Base.Trigger className={styles.trigger} aria-label={label}>
        <span className={styles.name}>{label}</span>
        <Base.Value className={styles.value} />
        <Icon name="chevron" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className={styles.popup}>
            {items.map((item) => (
              <Base.Item key={item.value} value={item.value} className={styles.item}>
                <span className={styles.mark}>
                  <Base.ItemIndicator>
                    <Icon name="check" />
                  </Base.ItemIndicator>
                </span>
                <Base.ItemText>{item.label}</Base.ItemText>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** The filter's name in the URL. */
  readonly name: string;
  /** What is shown without the filter. */
  readonly usual: string;
  readonly options: readonly string[];
}

/** A filter of few values, which the URL holds under its name. */
export function Choice({ label, name, usual, options }: ChoiceProps) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const chosen = options.find((option) => option === search[name]) ?? "";
  const choose = (value: string) =>
    void navigate({ to: ".", search: withSearch({ [name]: value || undefined, page: undefined }) });
  const texts = options.map((value) => ({ value, text: value }));
  return (
    <Select label={label} value={chosen} options={[{ value: "", text: usual }, ...texts]} onChange={choose} />
  );
}

interface SearchFieldProps {
  /** The filter's name in the URL. */
  readonly name: string;
  readonly value: string | undefined;
  /** What is searched: "Name, id or e-mail". */
  readonly label: string;
}

const PAUSE_MS = 250;

/** A filter that is typed. The URL follows 250 ms after the last key; the text follows another URL at once. */
export function SearchField({ name, value, label }: SearchFieldProps) {
  const navigate = useNavigate();
  const [text, setText] = useState(value ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What this field has put into the URL: only another value comes from elsewhere.
  const own = useRef(value);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (value === own.current) return;
    clearTimeout(timer.current);
    own.current = value;
    setText(value ?? "");
  }, [value]);
  const put = (wanted: string | undefined) => {
    own.current = wanted;
    const change = { [name]: wanted, page: undefined };
    void navigate({ to: ".", search: withSearch(change), replace: true });
  };
  const search = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => put(typed.trim() || undefined), PAUSE_MS);
  };
  return (
    <input
      type="search"
      className={stack.search}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ currentTarget }) => search(currentTarget.value)}
    />
  );
}

/** Chooses the key that the URL holds as `key`. */
export function KeyFilter({ account }: { readonly account: string }) {
  const { data } = useQuery(keyNamesQuery(account));
  const { key = "" } = useSearch({ strict: false }) as { readonly key?: string };
  const navigate = useNavigate();
  const known = data?.items.map(({ id, name }) => ({ value: id, text: name })) ?? [];
  const isUnknown = key !== "" && !known.some(({ value }) => value === key);
  return (
    <Select
      label="Key"
      value={key}
      options={[{ value: "", text: "any key" }, ...known, ...(isUnknown ? [{ value: key, text: key }] : [])]}
      onChange={(chosen) =>
        void navigate({
          to: ".",
          search: withSearch({ key: chosen === "" ? undefined : chosen, page: undefined }),
        })
      }
    />
  );
}
