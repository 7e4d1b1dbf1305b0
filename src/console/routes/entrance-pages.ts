import { createRoute } from "@tanstack/react-router";
import { lazyPart } from "../reachable.ts";
import { filters } from "../search.ts";
import { entrance, root } from "./parents.ts";

export const entrancePages = [
  createRoute({
    getParentRoute: () => entrance,
    path: "/sign-in",
    validateSearch: filters("next", "ended"),
    component: lazyPart(() => import("../pages/sign-in/sign-in-page.tsx"), "SignInPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/sign-up",
    validateSearch: filters("next", "email"),
    component: lazyPart(() => import("../pages/sign-up/sign-up-page.tsx"), "SignUpPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/forgot",
    component: lazyPart(() => import("../pages/forgot/forgot-page.tsx"), "ForgotPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/reset",
    component: lazyPart(() => import("../pages/reset/reset-page.tsx"), "ResetPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/accept",
    component: lazyPart(() => import("../pages/accept/accept-page.tsx"), "AcceptPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/verify",
    component: lazyPart(() => import("../pages/verify/verify-page.tsx"), "VerifyPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/change-password",
    validateSearch: filters("next"),
    component: lazyPart(
      () => import("../pages/change-password/change-password-page.tsx"),
      "ChangePasswordPage",
    ),
  }),
];
export const shared = createRoute({
  getParentRoute: () => root,
  path: "/shared/$token",
  component: lazyPart(() => import("../pages/shared/shared-page.tsx"), "SharedPage"),
});
