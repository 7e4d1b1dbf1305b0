import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import styles from "./stack.module.css";

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
    void navigate({ to: ".", search: (all: object) => ({ ...all, ...change }) as never, replace: true });
  };
  const search = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => put(typed.trim() || undefined), PAUSE_MS);
  };
  return (
    <input
      type="search"
      className={styles.search}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ currentTarget }) => search(currentTarget.value)}
    />
  );
}
