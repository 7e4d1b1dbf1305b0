import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../api.ts";
import { withSearch } from "../search.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import styles from "./empty.module.css";
import { Icon, type IconName } from "./icons.tsx";
import skeleton from "./skeleton.module.css";

interface EmptyProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What it means, and the one next step. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** Stands where rows would be when there are none. */
export function Empty({ icon = "info", title, children, actions }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <span className={styles.mark}>
        <Icon name={icon} size={20} />
      </span>
      <h3>{title}</h3>
      {children && <div className={styles.text}>{children}</div>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

interface ErrorPanelProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Stands where an answer would be when it failed: what happened, the request id, and a retry. */
export function ErrorPanel({ error, onRetry }: ErrorPanelProps) {
  const { title, text } = describeError(error);
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className={styles.empty} role="alert">
      <span className={classes(styles.mark, styles.bad)}>
        <Icon name="warning" size={20} />
      </span>
      <h3>{title}</h3>
      <p className={styles.text}>{text}</p>
      {requestId && (
        <p className={styles.small}>
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry && (
        <div className={styles.actions}>
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** A title and a sentence for a failure; messages of the API may be shown as they are. */
export function describeError(error: unknown): { readonly title: string; readonly text: string } {
  if (!(error instanceof ApiError)) return { title: "This page failed", text: "Reload it, or try again." };
  if (error.status === 0) {
    return { title: "The server cannot be reached", text: "Check the connection, then try again." };
  }
  if (error.status === 404) {
    return { title: "Not found", text: "There is nothing here with this id, or you may not see it." };
  }
  if (error.status === 403) return { title: "Not permitted", text: "Your role does not allow this." };
  if (error.status === 501) return { title: "Not available", text: error.message };
  return { title: "Something went wrong", text: error.message };
}

interface SkeletonProps {
  /** Default: a line. */
  readonly shape?: "line" | "title" | "block";
  /** Number of lines. */
  readonly lines?: number;
}

/** The shape of what is being loaded. Becomes visible after 150 ms, so that fast answers do not flicker. */
export function Skeleton({ shape = "line", lines = 1 }: SkeletonProps) {
  const each = classes(skeleton.skeleton, skeleton[shape]);
  if (lines === 1) return <span className={each} aria-hidden="true" data-skeleton />;
  return (
    <span className={skeleton.lines} aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => index).map((index) => (
        <span key={index} className={each} data-skeleton />
      ))}
    </span>
  );
}

/** A query, as far as its state is shown. */
export interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => Promise<unknown>;
}

interface LoadedProps<Data> {
  readonly query: Asked<Data>;
  /** Shown while loading. Default: a block. */
  readonly waiting?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what a query answered. Data that is known stays while it is read again, also when that fails. */
export function Loaded<Data>({ query, waiting, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data) return children(data);
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  return waiting ?? <Skeleton shape="block" />;
}

interface NoMatchProps {
  /** Names of filters that are cleared with the search. */
  readonly filters?: readonly string[];
}

/** Stands where rows would be when a search or filters exclude all of them. */
export function NoMatch({ filters = [] }: NoMatchProps) {
  const navigate = useNavigate();
  const cleared = Object.fromEntries([...filters, "q", "page"].map((name) => [name, undefined]));
  return (
    <Empty
      icon="search"
      title="Nothing matches"
      actions={
        <Button onClick={() => void navigate({ to: ".", search: withSearch(cleared) })}>
          {filters.length > 0 ? "Clear the filters" : "Clear the search"}
        </Button>
      }
    />
  );
}
