type Confirm = () => Promise<boolean>;

let handler: Confirm | undefined;

/** Asks for the password again. Resolves with `false` when it was not given. */
export function confirmPassword(): Promise<boolean> {
  return handler?.() ?? Promise.resolve(false);
}

/** Sets what asks: the dialog of the shell. */
export function setConfirmPassword(confirm: Confirm | undefined): void {
  handler = confirm;
}
