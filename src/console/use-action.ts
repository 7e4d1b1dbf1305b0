import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "./api.ts";
import { showToast } from "./parts/toast.tsx";

interface ActionOptions<Input, Result> {
  /** The call: `(name) => call(() => api.accounts.post({ name }))`. */
  readonly act: (input: Input) => Promise<Result>;
  /** Answers that are asked for again afterwards: `[["account", id, "keys"]]`. */
  readonly renews?: readonly QueryKey[];
  /** Said in the corner: "Key revoked". */
  readonly done?: string;
  /** Failures stand in the form, and not in the corner. */
  readonly isForm?: boolean;
  readonly onDone?: (result: Result, input: Input) => void | Promise<void>;
}

/** A change that the person makes: calls, asks for what has changed, and says what came of it. */
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
      if (!isForm) showToast(error instanceof ApiError ? error.message : "That failed.", "bad");
    },
  });
}
