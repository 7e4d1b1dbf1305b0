import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { api, call } from "./api.ts";

const load = () => import("@simplewebauthn/browser");

/** Asks the browser for a passkey, and signs its person in. */
export async function signInByPasskey() {
  const { options } = await call(() => api.passkey.options.post());
  const response = await answer(options);
  return call(() => api.passkey["sign-in"].post({ response }));
}

/** Asks the browser for a passkey of the person, as a fresh proof. */
export async function confirmByPasskey() {
  const { options } = await call(() => api.me["confirm-passkey"].options.post());
  const response = await answer(options);
  return call(() => api.me["confirm-passkey"].post({ response }));
}

/** Has the browser make a passkey, and registers it. */
export async function registerPasskey(name: string) {
  const { options } = await call(() => api.me.passkeys.options.post());
  const { startRegistration } = await load();
  // Safe because the server makes them by the library of the same name.
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  const response = await startRegistration({ optionsJSON }).catch(explain);
  return call(() => api.me.passkeys.post({ name, response }));
}

async function answer(options: unknown) {
  const { startAuthentication } = await load();
  // Safe because the server makes them by the library of the same name.
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON;
  return startAuthentication({ optionsJSON }).catch(explain);
}

/** Browsers name neither what was cancelled nor what is missing. */
function explain(fault: unknown): never {
  const isKnown = fault instanceof Error && fault.name === "InvalidStateError";
  throw new Error(isKnown ? "This device has a passkey for you already." : "No passkey was used.");
}
