import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, call } from "../api.ts";
import { forgetDrafts } from "../drafts.ts";
import { forgetViews } from "../views.ts";

export const THEMES = ["system", "light", "dark"] as const;
const THEME_KEY = "tollgate-theme";

export type Theme = (typeof THEMES)[number];

export function readTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(THEME_KEY);
    delete document.documentElement.dataset.theme;
    return;
  }
  localStorage.setItem(THEME_KEY, theme);
  document.documentElement.dataset.theme = theme;
}

/** Ends the session and forgets what the browser keeps of this person's places. */
export function useSignOut() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => call(() => api["sign-out"].post({})),
    onSettled: async (ended) => {
      forgetViews();
      forgetDrafts();
      if (ended?.location) return location.assign(ended.location);
      await navigate({ to: "/sign-in" });
      queryClient.clear();
    },
  });
}
