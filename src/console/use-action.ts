import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { ApiError } from "./api.ts";
import { showToast } from "./parts/toast.tsx";

export interface ActionOptions<Input, Result> {
  /** The call: `(name) => call(() => api.accounts.post({ name }))`. */
  readonly act: (input: Input) => Promise<Result>;
  /** Answers that are asked for again afterwards: `[["account", id, "keys"]]`. */
  readonly renews?: readonly QueryKey[] | undefined;
  /** The text of the toast: "Key revoked". */
  readonly done?: string | undefined;
  /** Whether failures are shown in the form and not as a toast. */
  readonly isForm?: boolean;
  readonly onDone?: (result: Result, input: Input) => void | Promise<void>;
}

/** A change by the person: calls the API, reads changed data again, and shows the result as a toast. */
export function useAction<Input = void, Result = unknown>(options: ActionOptions<Input, Result>) {
  const { act, renews = [], done, isForm = false, onDone } = options;
  const queryClient = useQueryClient();
  return useMutation<Result, Error, Input>({
    mutationFn: act,
    onSuccess: async (result, input) => {
      await Promise.all(renews.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      if (done !== undefined) showToast(done);
      await onDone?.(result, input);
    },
    onError: (error) => {
      // A form may close before its error is read: after 403 the role is read again, which may not open it.
      const mayClose = error instanceof ApiError && error.status === 403;
      if (!isForm || mayClose) showToast(error instanceof ApiError ? error.message : "That failed.", "bad");
    },
  });
}

const BYTES = 16;

/** Returns the same key for the same body, so that a repeated creation makes one thing. */
export function useIdempotencyKey(): (body: unknown) => { readonly "idempotency-key": string } {
  const last = useRef({ text: "", key: "" });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: newKey() };
    return { "idempotency-key": last.current.key };
  };
}

/** 128 random bits in hex. `randomUUID` is missing on pages without https. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
