import { Field } from "../parts/field.tsx";

const PASSWORD_LENGTH = { min: 10, max: 128 };

interface NewPasswordFieldProps {
  readonly label?: string;
  readonly name?: string;
}

/** A password to be. The server counts its characters after normalisation, so that it decides. */
export function NewPasswordField({ label = "New password", name = "password" }: NewPasswordFieldProps) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      hint={`${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`}
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
      required
    />
  );
}
