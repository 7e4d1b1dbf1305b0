import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import styles from "./stack.module.css";

interface SearchFieldProps {
  /** The filter's name in the URL. */
  readonly name: string;
  readonly value: string | undefined;
  /** What is searched: "Name, id or e-mail". */
  readonly label: string;
}

const PAUSE_MS = 250;

/** A filter that is typed. The URL follows 250 ms after the last key. */
export function SearchField({ name, value, label }: SearchFieldProps) {
  const navigate = useNavigate();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (text: string) => {
    clearTimeout(timer.current);
    const change = { [name]: text.trim() || undefined, page: undefined };
    timer.current = setTimeout(
      () =>
        void navigate({ to: ".", search: (all: object) => ({ ...all, ...change }) as never, replace: true }),
      PAUSE_MS,
    );
  };
  return (
    <input
      type="search"
      className={styles.search}
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onChange={({ currentTarget }) => search(currentTarget.value)}
    />
  );
}
