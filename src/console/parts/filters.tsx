import { Select as Base } from "@base-ui/react/select";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { keyNamesQuery, modelsQuery } from "../queries/overview.ts";
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

/** Returns the value of a filter that the URL holds, "" for none, and what sets it. Leads to the first page of rows. */
export function useFilter(name: string): readonly [value: string, choose: (value: string) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const value = search[name];
  const choose = (next: string) =>
    void navigate({ to: ".", search: withSearch({ [name]: next || undefined, page: undefined }) });
  return [typeof value === "string" ? value : "", choose];
}

interface Option {
  readonly value: string;
  readonly text: string;
}

interface ChoiceFilterProps {
  readonly label: string;
  /** The filter's name in the URL. */
  readonly name: string;
  /** What is shown without the filter: "any key". */
  readonly usual: string;
  readonly options: readonly (string | Option)[];
  /** Whether another value of the URL filters too, and so stays visible. Default: false. */
  readonly isOpen?: boolean;
}

/** A filter of few values, which the URL holds under its name. */
export function ChoiceFilter({ label, name, usual, options, isOpen = false }: ChoiceFilterProps) {
  const [value, choose] = useFilter(name);
  const listed = options.map((each) => (typeof each === "string" ? { value: each, text: each } : each));
  const isListed = value === "" || listed.some((each) => each.value === value);
  return (
    <Select
      label={label}
      value={isListed || isOpen ? value : ""}
      options={[
        { value: "", text: usual },
        ...listed,
        ...(isOpen && !isListed ? [{ value, text: value }] : []),
      ]}
      onChange={choose}
    />
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
  const options = data?.items.map(({ id, name }) => ({ value: id, text: name })) ?? [];
  return <ChoiceFilter label="Key" name="key" usual="any key" options={options} isOpen />;
}

interface ModelFilterProps {
  readonly account: string;
  /** What is shown without the filter. */
  readonly usual: string;
}

/** Chooses the model that the URL holds as `model`. */
export function ModelFilter({ account, usual }: ModelFilterProps) {
  const { data } = useQuery(modelsQuery(account));
  const options = data?.items.map(({ id }) => id) ?? [];
  return <ChoiceFilter label="Model" name="model" usual={usual} options={options} isOpen />;
}
