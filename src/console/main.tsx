import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Toasts } from "./parts/toast.tsx";
import { createQueryClient } from "./query.ts";
import { createConsoleRouter } from "./router.tsx";
import { keepFocus } from "./shell/shell.tsx";
import { noteView } from "./views.ts";
import "./styles.css";

const queryClient = createQueryClient(() => void goToSignIn());
const router = createConsoleRouter(queryClient);
router.subscribe("onResolved", ({ toLocation }) => noteView(toLocation));
const container = document.getElementById("root");
if (!container) throw new Error("The page has no place for the console");

keepFocus();
createRoot(container).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

/** Leads to the sign-in when a session has ended, and after it to the page that was asked for last. */
async function goToSignIn(): Promise<void> {
  const { matches } = router.state;
  const { pathname, href } = router.latestLocation;
  const isInside = matches.some(({ routeId }) => routeId === "/shell");
  // Several answers may say so: only the first one leads away.
  if (!isInside || pathname === "/sign-in") return;
  await router.navigate({ to: "/sign-in", search: { next: href, ended: "1" } });
  queryClient.clear();
}
