import { Field } from "./field.tsx";

/** A code of an authenticator app, or a recovery code. */
export function CodeField({ isOfApp = false }: { readonly isOfApp?: boolean }) {
  return (
    <Field
      label="Code"
      name="code"
      hint={isOfApp ? "Six digits." : "Six digits of your authenticator app, or a recovery code."}
      autoComplete="one-time-code"
      inputMode={isOfApp ? "numeric" : "text"}
      maxLength={40}
      required
      autoFocus
    />
  );
}
