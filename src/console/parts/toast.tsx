import { useSyncExternalStore } from "react";
import { IconButton } from "./button.tsx";
import { Icon } from "./icons.tsx";
import styles from "./toast.module.css";

interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

/** Shows a sentence at the corner for 6 s. Failures stay until they are closed. */
export function showToast(text: string, tone: Toast["tone"] = "good"): void {
  const id = nextId++;
  set([...toasts, { id, tone, text }].slice(-SHOWN_MAX));
  if (tone === "good") setTimeout(() => close(id), SHOWN_MS);
}

/** The corner of the toasts. Mounted once. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <div key={id} className={styles.toast}>
          <span className={styles[tone]}>
            <Icon name={tone === "good" ? "check" : "warning"} size={20} />
          </span>
          <span className={styles.text}>{text}</span>
          <IconButton icon="close" label="Close message" size="small" onClick={() => close(id)} />
        </div>
      ))}
    </div>
  );
}

function close(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
