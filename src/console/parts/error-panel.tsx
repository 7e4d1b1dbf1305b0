import { ApiError } from "../api.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import styles from "./empty.module.css";
import { Icon } from "./icons.tsx";

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
